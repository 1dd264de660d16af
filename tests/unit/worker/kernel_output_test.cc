// SPDX-License-Identifier: Apache-2.0
// What kernels print, on its way to the control connection: in order, within the client's room, without loss.
#include "worker/base/kernel_output.h"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <array>
#include <string>
#include <thread>

#include "transport/net/socket.h"
#include "worker/session/output_sender.h"

namespace tf::worker {
namespace {

using namespace std::chrono_literals;
using protocol::OutputStream;

constexpr std::size_t kInFlight = protocol::kOutputInFlightMax;

using Buffer = std::array<char, protocol::kOutputChunkMax>;

std::string text_of(const protocol::Output& output) { return {output.text.begin(), output.text.end()}; }

// All that is there to be taken.
std::string take_all(KernelOutput& output) {
  std::string all;
  Buffer buffer;
  while (const auto next = output.take(buffer, true)) all += text_of(*next);
  return all;
}

struct Ends {
  net::OwnedFd worker, client;
  Buffer buffer;

  Ends() {
    std::array<int, 2> made{-1, -1};
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, made.data()), 0);
    worker = net::OwnedFd(made[0]);
    client = net::OwnedFd(made[1]);
  }
  Result<protocol::Output> receive(Deadline deadline = Deadline::after(10s)) {
    Result<protocol::WorkerMessage> message =
        protocol::receive_worker_message(client.get(), buffer, deadline);
    if (!message) return message.status();
    return message->output.value();
  }
};

TEST(KernelOutput, KeepsTheOrderOfBothStreams) {
  KernelOutput output;
  output.print(OutputStream::kOut, "one ");
  output.print(OutputStream::kOut, "two");
  output.print(OutputStream::kError, "three");
  output.print(OutputStream::kOut, "four");
  EXPECT_EQ(output.printed(), 16u);
  EXPECT_TRUE(net::wait_readable(output.ready().get(), Deadline::after(10s)).is_ok());
  Buffer buffer;
  auto next = output.take(buffer, true);
  ASSERT_TRUE(next);
  EXPECT_EQ(text_of(*next), "one two");
  EXPECT_EQ(next->stream, OutputStream::kOut);
  next = output.take(buffer, true);
  ASSERT_TRUE(next);
  EXPECT_EQ(text_of(*next), "three");
  EXPECT_EQ(next->stream, OutputStream::kError);
  EXPECT_EQ(take_all(output), "four");
  EXPECT_EQ(net::wait_readable(output.ready().get(), Deadline::now()).code(), Code::kTimeout);
  output.print(OutputStream::kOut, "five");
  EXPECT_TRUE(net::wait_readable(output.ready().get(), Deadline::now()).is_ok());
}

// A message for each line of a kernel's would cost a hundred thousand round trips.
TEST(KernelOutput, LinesTravelTogetherWhileTheClientWrites) {
  KernelOutput output;
  Buffer buffer;
  output.print(OutputStream::kOut, "one");
  EXPECT_TRUE(output.take(buffer, true)) << "nothing is on its way";
  output.print(OutputStream::kOut, "two");
  EXPECT_FALSE(output.take(buffer, false));
  EXPECT_EQ(net::wait_readable(output.ready().get(), Deadline::now()).code(), Code::kTimeout);
  output.print(OutputStream::kOut, "three");
  EXPECT_FALSE(output.take(buffer, false));
  EXPECT_EQ(take_all(output), "twothree");
  output.print(OutputStream::kOut, std::string(protocol::kOutputChunkMax, 'x'));
  EXPECT_TRUE(output.take(buffer, false)) << "a message's worth";
  output.print(OutputStream::kError, "why");
  EXPECT_TRUE(net::wait_readable(output.ready().get(), Deadline::now()).is_ok());
  EXPECT_TRUE(output.take(buffer, false)) << "the process may end next";
}

TEST(KernelOutput, WhoPrintsTooMuchWaits) {
  KernelOutput output;
  const std::string much(kKernelOutputBytesMax + 100, 'x');
  std::thread printer([&] { output.print(OutputStream::kOut, much); });
  while (output.printed() < kKernelOutputBytesMax) std::this_thread::yield();
  std::string got;
  while (got.size() < much.size()) got += take_all(output);
  printer.join();
  EXPECT_EQ(got, much);
  EXPECT_EQ(output.printed(), much.size());
}

TEST(KernelOutput, ClosingLetsThemGo) {
  KernelOutput output;
  std::thread printer([&] { output.print(OutputStream::kOut, std::string(2 * kKernelOutputBytesMax, 'x')); });
  while (output.printed() < kKernelOutputBytesMax) std::this_thread::yield();
  output.close();
  printer.join();
  output.print(OutputStream::kError, "dropped");
  EXPECT_EQ(take_all(output), "");
}

TEST(KernelOutput, StandardErrorIsSentWhenTheCallReturns) {
  KernelOutput output;
  Ends ends;
  OutputSender sender(output, ends.worker.get());
  std::thread sends([&] {
    EXPECT_TRUE(net::wait_readable(sender.waits_for(), Deadline::after(10s)).is_ok());
    EXPECT_TRUE(sender.send().is_ok());
  });
  output.print(OutputStream::kError, "last words");
  auto got = ends.receive(Deadline::now());
  sends.join();
  ASSERT_TRUE(got) << "it may be the last thing that this process does";
  EXPECT_EQ(text_of(*got), "last words");
}

TEST(OutputSender, SendsNoMoreThanTheClientHasRoomFor) {
  KernelOutput output;
  Ends ends;
  OutputSender sender(output, ends.worker.get());
  output.print(OutputStream::kOut, std::string(3 * kInFlight, 'x'));
  ASSERT_TRUE(sender.send().is_ok());
  std::size_t got = 0;
  for (; got < kInFlight; got += protocol::kOutputChunkMax) {
    auto chunk = ends.receive();
    ASSERT_TRUE(chunk);
    EXPECT_EQ(chunk->text.size(), protocol::kOutputChunkMax);
  }
  EXPECT_LT(sender.waits_for(), 0);
  ASSERT_TRUE(sender.send().is_ok());
  EXPECT_EQ(net::wait_readable(ends.client.get(), Deadline::now()).code(), Code::kTimeout);
  ASSERT_TRUE(sender.written(protocol::kOutputChunkMax).is_ok());
  ASSERT_TRUE(sender.send().is_ok());
  EXPECT_TRUE(ends.receive());
  EXPECT_EQ(net::wait_readable(ends.client.get(), Deadline::now()).code(), Code::kTimeout);
}

TEST(OutputSender, RefusesImpossibleReports) {
  KernelOutput output;
  Ends ends;
  OutputSender sender(output, ends.worker.get());
  output.print(OutputStream::kOut, "text");
  ASSERT_TRUE(sender.send().is_ok());
  EXPECT_EQ(sender.written(5).code(), Code::kProtocol);
  EXPECT_EQ(sender.written(UINT64_MAX).code(), Code::kProtocol);
  EXPECT_TRUE(sender.written(4).is_ok());
  EXPECT_EQ(sender.written(3).code(), Code::kProtocol) << "it takes back what it has written";
}

}  // namespace
}  // namespace tf::worker
