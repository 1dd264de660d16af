// SPDX-License-Identifier: Apache-2.0
// A session over loopback: copies in both directions, callbacks, modules, faults, and hostile clients.
#include <gtest/gtest.h>

#include <numeric>
#include <random>

#include "session_rig.h"
#include "transport/endpoint.h"

namespace tf::worker {
namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t kMiB = 1 << 20;

std::vector<std::byte> pattern(std::size_t bytes, unsigned seed) {
  std::vector<std::byte> data(bytes);
  std::mt19937 random(seed);
  for (std::byte& value : data) value = static_cast<std::byte>(random());
  return data;
}

std::span<const std::byte> text(const char* name) {
  return std::as_bytes(std::span(name, std::strlen(name)));
}

Status copy_in(SessionRig& rig, std::uint64_t target, std::span<const std::byte> data, std::uint64_t stream,
               std::uint64_t tag) {
  protocol::CopyToDeviceRequest request{};
  request.target = target;
  request.bytes = data.size();
  request.stream = stream;
  request.tag = tag;
  rig.post(request);
  BulkCompletion sent;
  EXPECT_TRUE(rig.bulk().send(tag, data, sent).is_ok());
  return rig.await(sent);
}

Status copy_out(SessionRig& rig, std::uint64_t source, std::span<std::byte> data, std::uint64_t stream,
                std::uint64_t tag) {
  BulkCompletion received;
  EXPECT_TRUE(rig.bulk().receive(tag, data, received).is_ok());
  protocol::CopyFromDeviceRequest request{};
  request.source = source;
  request.bytes = data.size();
  request.stream = stream;
  request.tag = tag;
  rig.post(request);
  return rig.await(received);
}

void copy_inline(SessionRig& rig, std::uint64_t target, std::span<const std::byte> data,
                 std::uint64_t stream) {
  protocol::CopyToDeviceInlineRequest request{};
  request.target = target;
  request.stream = stream;
  rig.post(request, data);
}

TEST(Session, CopiesOfEverySizeComeBackEqual) {
  SessionRig rig;
  const std::uint64_t stream = rig.add_stream();
  rig.start();
  const std::uint64_t memory = rig.lease(32 * kMiB);
  std::uint64_t tag = 1;
  for (const std::size_t bytes : {1ul, 4096ul, 70000ul, kMiB, kMiB + 1, 20 * kMiB + 13}) {
    const std::vector<std::byte> sent = pattern(bytes, static_cast<unsigned>(bytes));
    ASSERT_TRUE(copy_in(rig, memory + 7, sent, stream, tag++).is_ok());
    std::vector<std::byte> back(bytes);
    ASSERT_TRUE(copy_out(rig, memory + 7, back, stream, tag++).is_ok());
    ASSERT_EQ(back, sent) << bytes;
  }
  EXPECT_TRUE(rig.faults().empty());
}

TEST(Session, InlineCopiesKeepTheirOrder) {
  SessionRig rig;
  const std::uint64_t stream = rig.add_stream();
  rig.start();
  const std::uint64_t memory = rig.lease(kMiB);
  for (std::uint32_t value = 0; value < 1000; ++value)
    copy_inline(rig, memory + value % 10 * 4, std::as_bytes(std::span(&value, 1)), stream);
  std::vector<std::uint32_t> back(10);
  ASSERT_TRUE(copy_out(rig, memory, std::as_writable_bytes(std::span(back)), stream, 1).is_ok());
  for (std::uint32_t index = 0; index < 10; ++index) EXPECT_EQ(back[index], 990 + index);
}

TEST(Session, BoxesArePackedOnTheWire) {
  SessionRig rig;
  rig.start();
  const std::uint64_t memory = rig.lease(8 * kMiB);
  struct Shape {
    std::uint64_t width, pitch, height, slice, depth;
  };
  std::uint64_t tag = 1;
  for (const Shape& shape :
       {Shape{100, 256, 40, 256 * 64, 3}, Shape{256, 256, 64, 256 * 64, 4},
        Shape{3 * kMiB / 2, 2 * kMiB, 2, 4 * kMiB, 2}, Shape{1, 512, 2000, 512 * 2000, 1}}) {
    const std::vector<std::byte> sent =
        pattern(static_cast<std::size_t>(shape.width * shape.height * shape.depth), 5);
    BulkCompletion in;
    ASSERT_TRUE(rig.bulk().send(tag, sent, in).is_ok());
    rig.post(protocol::CopyBoxToDeviceRequest{memory, shape.pitch, shape.slice, shape.width, shape.height,
                                              shape.depth, 0, tag});
    ASSERT_TRUE(rig.await(in).is_ok());
    std::vector<std::byte> back(sent.size());
    BulkCompletion out;
    ASSERT_TRUE(rig.bulk().receive(++tag, back, out).is_ok());
    rig.post(protocol::CopyBoxFromDeviceRequest{memory, shape.pitch, shape.slice, shape.width, shape.height,
                                                shape.depth, 0, tag});
    ASSERT_TRUE(rig.await(out).is_ok());
    ASSERT_EQ(back, sent) << shape.width;
    // The second row lies a pitch further on.
    std::byte row[1];
    if (shape.height > 1) {
      ASSERT_TRUE(copy_out(rig, memory + shape.pitch, row, 0, ++tag).is_ok());
      EXPECT_EQ(row[0], sent[static_cast<std::size_t>(shape.width)]);
    }
    ++tag;
  }
  EXPECT_TRUE(rig.faults().empty());
}

TEST(Session, AForeignAddressIsAFaultAndStallsNothing) {
  SessionRig rig;
  rig.start();
  const std::uint64_t memory = rig.lease(4 * kMiB);
  const std::vector<std::byte> data = pattern(3 * kMiB, 1);
  EXPECT_TRUE(copy_in(rig, memory + 2 * kMiB, data, 0, 1).is_ok());  // thrown away, but taken
  EXPECT_TRUE(copy_in(rig, memory, data, 0, 2).is_ok());
  std::vector<std::byte> back(data.size());
  EXPECT_EQ(abort_reason(copy_out(rig, 0x1000, back, 0, 3)), hipErrorInvalidValue);
  EXPECT_EQ(abort_reason(copy_out(rig, memory + 4 * kMiB - 1, std::span(back).first(2), 0, 4)),
            hipErrorInvalidValue);
  ASSERT_TRUE(copy_out(rig, memory, back, 0, 5).is_ok());
  EXPECT_EQ(back, data);
  EXPECT_EQ(rig.synchronize(0), hipSuccess);
  ASSERT_EQ(rig.faults().size(), 3u);
  EXPECT_EQ(rig.faults()[0].error, hipErrorInvalidValue);
  EXPECT_EQ(rig.faults()[0].failed_opcode, static_cast<std::uint32_t>(protocol::CopyToDeviceRequest::kOp));
}

TEST(Session, AFaultPrecedesLaterReplies) {
  SessionRig rig;
  rig.start();
  for (std::size_t round = 1; round <= 50; ++round) {
    rig.post(protocol::FreeMemoryRequest{0x1234});
    ASSERT_EQ(rig.synchronize(0), hipSuccess);
    ASSERT_EQ(rig.faults().size(), round);
  }
}

// Behind the callback stand requests that need more staging than there is, and more than the executor takes
// from the ring while it waits.
TEST(Session, CopiesBehindACallbackWaitForIt) {
  SessionRig rig;
  const std::uint64_t stream = rig.add_stream();
  rig.start();
  const std::uint64_t memory = rig.lease(kMiB);
  rig.post(protocol::HostCallbackRequest{stream, 77});
  ASSERT_EQ(rig.callback_due(), 77u);
  const std::vector<std::byte> data = pattern(64, 3);
  for (std::size_t copy = 0; copy < kSmallSlots + kLookaheadMessagesMax + 200; ++copy)
    copy_inline(rig, memory, data, stream);
  rig.post(protocol::FreeMemoryRequest{memory});
  rig.callback_done(77);
  EXPECT_EQ(rig.synchronize(stream), hipSuccess);
  EXPECT_TRUE(rig.faults().empty());
}

hipStream_t stream_without_events = nullptr;

// The slot of a copy that no event marks is free when the whole stream is done.
TEST(Session, AWaitForAStreamLetsOtherPayloadMove) {
  static decltype(protocol::HipTable::hipEventRecord) record;
  SessionRig rig;
  const std::uint64_t held = rig.add_stream();
  const std::uint64_t other = rig.add_stream();
  const auto* const object = rig.session().objects.find(protocol::HandleKind::kStream, held);
  stream_without_events = static_cast<hipStream_t>(object->object);
  record = rig.hip().hipEventRecord;
  rig.hip().hipEventRecord = [](hipEvent_t event, hipStream_t stream) {
    return stream == stream_without_events ? hipErrorNotSupported : record(event, stream);
  };
  rig.start();
  const std::uint64_t memory = rig.lease(kMiB);
  for (const std::uint64_t cookie : {1, 2}) {
    rig.post(protocol::HostCallbackRequest{cookie == 1 ? held : other, cookie});
    ASSERT_EQ(rig.callback_due(), cookie);
  }
  std::vector<std::byte> back(4096);
  BulkCompletion received;
  ASSERT_TRUE(rig.bulk().receive(1, back, received).is_ok());
  rig.post(protocol::CopyFromDeviceRequest{memory, back.size(), other, 1});
  copy_inline(rig, memory + 4096, pattern(64, 3), held);
  rig.callback_done(2);
  EXPECT_TRUE(rig.await(received).is_ok());
  rig.callback_done(1);
  EXPECT_EQ(rig.synchronize(held), hipSuccess);
}

TEST(Session, WaitingRequestsDoNotHoldUpOthers) {
  SessionRig rig;
  const std::uint64_t held = rig.add_stream();
  const std::uint64_t other = rig.add_stream();
  rig.start();
  rig.post(protocol::HostCallbackRequest{held, 5});
  ASSERT_EQ(rig.callback_due(), 5u);
  std::thread waiter([&] { EXPECT_EQ(rig.synchronize(held), hipSuccess); });
  EXPECT_EQ(rig.call(protocol::QueryStreamRequest{held}), hipErrorNotReady);
  EXPECT_EQ(rig.synchronize(other), hipSuccess);
  rig.callback_done(5);
  waiter.join();
  EXPECT_EQ(rig.call(protocol::QueryStreamRequest{held}), hipSuccess);
}

// What a waiter thread sits in outlives its destruction by the client, and the end of the session.
TEST(Session, ADestroyedStreamThatIsWaitedForEndsItsWaitFirst) {
  SessionRig rig;
  const std::uint64_t held = rig.add_stream();
  rig.start();
  rig.post(protocol::HostCallbackRequest{held, 5});
  ASSERT_EQ(rig.callback_due(), 5u);
  hipError_t waited = hipErrorUnknown;
  std::thread waiter([&] { waited = rig.synchronize(held); });
  std::this_thread::sleep_for(20ms);  // most likely it waits by now
  rig.post(protocol::DestroyStreamRequest{held});
  std::this_thread::sleep_for(20ms);
  rig.callback_done(5);
  waiter.join();
  EXPECT_TRUE(waited == hipSuccess || waited == hipErrorInvalidHandle) << waited;  // or it came too late
  EXPECT_EQ(rig.call(protocol::QueryStreamRequest{held}), hipErrorInvalidHandle);
  EXPECT_EQ(rig.synchronize(0), hipSuccess);
}

TEST(Session, AWaitThatTheSessionsEndCutsShortUsesLiveObjects) {
  SessionRig rig;
  const std::uint64_t held = rig.add_stream();
  rig.start();
  rig.post(protocol::HostCallbackRequest{held, 5});
  ASSERT_EQ(rig.callback_due(), 5u);
  ASSERT_TRUE(rig.queue()
                  .post(static_cast<std::uint16_t>(protocol::SynchronizeStreamRequest::kOp), 0,
                        std::as_bytes(std::span(&held, 1)))
                  .is_ok());
  std::this_thread::sleep_for(20ms);
  rig.drop_client();
  EXPECT_EQ(rig.wait_end().code(), Code::kPeerLost);
}

TEST(Session, ModulesAreCachedByTheirHash) {
  SessionRig rig;
  rig.start();
  CodeBytes code;
  code.size = 100000;
  code.data = std::make_unique<std::byte[]>(code.size);
  std::memcpy(code.data.get(), "FAKE", 4);
  const CodeHash hash = hash_of(code);
  const std::span<const std::byte> bytes(code.data.get(), code.size);
  const std::uint64_t module = protocol::Handle(protocol::HandleKind::kModule, 0, 0).raw();
  const protocol::ProbeModuleRequest probe{hash.low, hash.high, code.size};

  ASSERT_EQ(rig.call(probe), hipSuccess);
  EXPECT_EQ(rig.reply_body<protocol::ProbeModuleReply>().have, 0u);
  EXPECT_EQ(rig.call(protocol::LoadModuleRequest{module, hash.low, hash.high, code.size, 0}),
            hipErrorInvalidImage);
  // Bytes that are not what their hash says are refused.
  BulkCompletion wrong;
  ASSERT_TRUE(rig.bulk().send(1, bytes, wrong).is_ok());
  EXPECT_EQ(rig.call(protocol::LoadModuleRequest{module, hash.low + 1, hash.high, code.size, 1}),
            hipErrorInvalidImage);
  ASSERT_TRUE(rig.await(wrong).is_ok());
  BulkCompletion right;
  ASSERT_TRUE(rig.bulk().send(2, bytes, right).is_ok());
  EXPECT_EQ(rig.call(protocol::LoadModuleRequest{module, hash.low, hash.high, code.size, 2}), hipSuccess);
  ASSERT_TRUE(rig.await(right).is_ok());
  ASSERT_EQ(rig.call(probe), hipSuccess);
  EXPECT_EQ(rig.reply_body<protocol::ProbeModuleReply>().have, 1u);
  const std::uint64_t again = protocol::Handle(protocol::HandleKind::kModule, 0, 1).raw();
  EXPECT_EQ(rig.call(protocol::LoadModuleRequest{again, hash.low, hash.high, code.size, 0}), hipSuccess);
}

// A module with the fake runtime's kernels. Its handle.
std::uint64_t load_module(SessionRig& rig) {
  CodeBytes code;
  code.size = 16;
  code.data = std::make_unique<std::byte[]>(code.size);
  std::memcpy(code.data.get(), "FAKE", 4);
  const CodeHash hash = hash_of(code);
  const std::uint64_t module = protocol::Handle(protocol::HandleKind::kModule, 0, 0).raw();
  BulkCompletion sent;
  EXPECT_TRUE(rig.bulk().send(1, {code.data.get(), code.size}, sent).is_ok());
  EXPECT_EQ(rig.call(protocol::LoadModuleRequest{module, hash.low, hash.high, code.size, 1}), hipSuccess);
  EXPECT_TRUE(rig.await(sent).is_ok());
  return module;
}

TEST(Session, FunctionsAreFoundAndDescribed) {
  SessionRig rig;
  rig.start();
  const std::uint64_t module = load_module(rig);
  const auto function = [](std::uint32_t index) {
    return protocol::Handle(protocol::HandleKind::kFunction, 0, index).raw();
  };
  EXPECT_EQ(rig.call(protocol::FindFunctionRequest{module, function(0)}, text("fill")), hipSuccess);
  EXPECT_EQ(rig.call(protocol::FindFunctionRequest{module, function(1)}, text("many")), hipSuccess);
  EXPECT_EQ(rig.call(protocol::FindFunctionRequest{module, function(2)}, text("nobody")), hipErrorNotFound);
  EXPECT_EQ(rig.call(protocol::FindFunctionRequest{module + 1, function(2)}, text("fill")),
            hipErrorInvalidHandle);
  EXPECT_EQ(rig.call(protocol::DescribeFunctionRequest{function(2), 0, 0}), hipErrorInvalidHandle);
  ASSERT_EQ(rig.call(protocol::CountFunctionsRequest{module}), hipSuccess);
  EXPECT_EQ(rig.reply_body<protocol::CountFunctionsReply>().count, 2u);
  EXPECT_EQ(rig.call(protocol::CountFunctionsRequest{module + 1}), hipErrorInvalidHandle);

  ASSERT_EQ(rig.call(protocol::DescribeFunctionRequest{function(0), 0, 0}), hipSuccess);
  const auto fill = rig.reply_body<protocol::DescribeFunctionReply>();
  EXPECT_EQ(fill.max_threads_per_block, 100u + HIP_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
  EXPECT_EQ(fill.static_shared_bytes, 100u + HIP_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES);
  EXPECT_EQ(fill.private_bytes, 100u + HIP_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES);
  EXPECT_EQ(fill.registers, 100u + HIP_FUNC_ATTRIBUTE_NUM_REGS);
  ASSERT_EQ(fill.arguments, 3u);
  EXPECT_EQ(std::vector<std::uint32_t>(fill.offsets, fill.offsets + 3),
            (std::vector<std::uint32_t>{0, 8, 12}));
  EXPECT_EQ(std::vector<std::uint32_t>(fill.sizes, fill.sizes + 3), (std::vector<std::uint32_t>{8, 4, 4}));

  std::uint32_t known = 0;
  for (std::uint32_t got = 1; got != 0 && known < 1000; known += got) {
    ASSERT_EQ(rig.call(protocol::DescribeFunctionRequest{function(1), known, 0}), hipSuccess);
    const auto page = rig.reply_body<protocol::DescribeFunctionReply>();
    got = page.arguments;
    for (std::uint32_t i = 0; i < got; ++i) ASSERT_EQ(page.offsets[i], (known + i) * 8);
  }
  EXPECT_EQ(known, 100u);
  EXPECT_TRUE(rig.faults().empty()) << "what was not found was asked for, not posted";
}

TEST(Session, LaunchesRunAndDieWithTheirModule) {
  SessionRig rig;
  rig.start();
  const std::uint64_t memory = rig.lease(kMiB);
  const std::uint64_t module = load_module(rig);
  const std::uint64_t function = protocol::Handle(protocol::HandleKind::kFunction, 0, 0).raw();
  const std::uint64_t missing = protocol::Handle(protocol::HandleKind::kFunction, 0, 1).raw();
  rig.post(protocol::GetFunctionRequest{module, function}, text("fill"));
  rig.post(protocol::GetFunctionRequest{module, missing}, text("no_such_kernel"));

  struct {
    std::uint64_t target;
    std::uint32_t value;
    std::uint32_t count;
  } arguments{memory, 42, 1000};
  protocol::LaunchRequest launch{};
  launch.function = function;
  for (int axis = 0; axis < 3; ++axis) launch.grid[axis] = launch.block[axis] = 1;
  rig.post(launch, std::as_bytes(std::span(&arguments, 1)));
  std::vector<std::uint32_t> back(1000);
  ASSERT_TRUE(copy_out(rig, memory, std::as_writable_bytes(std::span(back)), 0, 2).is_ok());
  EXPECT_EQ(std::accumulate(back.begin(), back.end(), 0u), 42000u);

  launch.grid[1] = 0;
  rig.post(launch, std::as_bytes(std::span(&arguments, 1)));
  rig.post(protocol::UnloadModuleRequest{module});
  launch.grid[1] = 1;
  rig.post(launch, std::as_bytes(std::span(&arguments, 1)));
  ASSERT_EQ(rig.synchronize(0), hipSuccess);
  const std::vector<protocol::FaultNotice> faults = rig.faults();
  ASSERT_EQ(faults.size(), 3u);
  EXPECT_EQ(faults[0].error, hipErrorNotFound);
  EXPECT_EQ(faults[1].error, hipErrorInvalidConfiguration);
  EXPECT_EQ(faults[2].error, hipErrorInvalidHandle);
}

TEST(Session, LeasesAreBoundedAndEndWhenReturned) {
  SessionRig rig;
  rig.start();
  EXPECT_EQ(rig.call(protocol::LeaseMemoryRequest{1ull << 50, 0, 0}), hipErrorOutOfMemory);
  EXPECT_EQ(rig.call(protocol::LeaseMemoryRequest{0, 0, 0}), hipErrorInvalidValue);
  const std::uint64_t memory = rig.lease(200 * kMiB);
  EXPECT_EQ(rig.call(protocol::LeaseMemoryRequest{100 * kMiB, 0, 0}), hipErrorOutOfMemory);  // 256 MiB in all
  rig.post(protocol::ReturnLeaseRequest{memory});
  std::byte byte{};
  EXPECT_EQ(abort_reason(copy_out(rig, memory, {&byte, 1}, 0, 9)), hipErrorInvalidValue);
  rig.lease(100 * kMiB);
  rig.post(protocol::ReturnLeaseRequest{memory + 1});
  EXPECT_EQ(rig.synchronize(0), hipSuccess);
  EXPECT_EQ(rig.faults().size(), 2u);
}

TEST(Session, UnknownOpcodesAreAnswered) {
  SessionRig rig;
  rig.start();
  EXPECT_EQ(rig.call_raw(0x0fff, {}), hipErrorNotSupported);
  ASSERT_TRUE(rig.queue().post(0x0fff, kFlagNoReply, {}).is_ok());
  EXPECT_EQ(rig.synchronize(0), hipSuccess);
  ASSERT_EQ(rig.faults().size(), 1u);
  EXPECT_EQ(rig.faults()[0].error, hipErrorNotSupported);
}

TEST(Session, APayloadOfWrongSizeEndsTheSession) {
  SessionRig rig;
  rig.start();
  const std::byte three[3] = {};
  ASSERT_TRUE(rig.queue()
                  .post(static_cast<std::uint16_t>(protocol::CopyOnDeviceRequest::kOp), kFlagNoReply, three)
                  .is_ok());
  EXPECT_EQ(rig.wait_end().code(), Code::kProtocol);
}

TEST(Session, GoodbyeEndsItInOrder) {
  SessionRig rig;
  rig.start();
  const std::uint64_t memory = rig.lease(kMiB);
  copy_inline(rig, memory, pattern(100, 1), 0);
  rig.post(protocol::GoodbyeRequest{});
  EXPECT_TRUE(rig.wait_end().is_ok());
}

TEST(Session, EndsWhenTheClientIsGoneInTheMiddleOfACopy) {
  SessionRig rig;
  rig.start();
  const std::uint64_t memory = rig.lease(8 * kMiB);
  rig.post(protocol::CopyToDeviceRequest{memory, 8 * kMiB, 0, 1});  // and never sends
  std::this_thread::sleep_for(20ms);
  rig.drop_client();
  EXPECT_EQ(rig.wait_end().code(), Code::kPeerLost);
}

TEST(Session, EndsWhileACallbackIsOutstanding) {
  SessionRig rig;
  const std::uint64_t stream = rig.add_stream();
  rig.start();
  rig.post(protocol::HostCallbackRequest{stream, 1});
  ASSERT_EQ(rig.callback_due(), 1u);
  EXPECT_EQ(rig.stop().code(), Code::kClosed);
}

// Random requests of every kind with random fields: the session may refuse all of it, but must live on or end
// in order, and never touch memory that is not its own (the sanitizers look).
TEST(Session, RandomRequestsDoNotBreakIt) {
  std::mt19937_64 random(7);
  for (int round = 0; round < 20; ++round) {
    SessionRig rig;
    rig.start();
    const std::uint64_t memory = rig.lease(kMiB);
    for (int request = 0; request < 200; ++request) {
      std::vector<std::uint64_t> fields(random() % 10);
      for (std::uint64_t& field : fields) {
        const std::uint64_t kind = random() % 4;
        field = kind == 0   ? random()
                : kind == 1 ? memory + random() % 4096
                : kind == 2 ? random() % 4
                            : ~0ull;
      }
      const auto opcode = static_cast<std::uint16_t>((random() % 6) << 8 | random() % 0x60);
      if (opcode == 4) continue;  // Goodbye
      if (!rig.queue().post(opcode, kFlagNoReply, std::as_bytes(std::span(fields))).is_ok()) break;
    }
    static_cast<void>(rig.queue().poll());
    std::this_thread::sleep_for(5ms);
    const Status ended = rig.stop();
    EXPECT_TRUE(ended.code() == Code::kClosed || ended.code() == Code::kProtocol ||
                ended.code() == Code::kResourceExhausted)
        << ended.to_string();
  }
}

}  // namespace
}  // namespace tf::worker
