// SPDX-License-Identifier: Apache-2.0
// What is counted for TF_STATS, and where: on a session against a fake worker, and in records alone.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <barrier>
#include <filesystem>
#include <fstream>
#include <memory>
#include <thread>
#include <vector>

#include "proxy/client/client.h"
#include "proxy/stats/counting.h"
#include "tests/unit/proxy/fake_worker.h"
#include "transport/loopback.h"

namespace tf::proxy::stats {
namespace {

class Stats : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (std::filesystem::temp_directory_path() / "hip-stats-XXXXXX").string();
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    directory_ = pattern;
    restart(directory_);
  }
  void TearDown() override {
    restart("");
    std::filesystem::remove_all(directory_);
  }
  std::size_t files() const {
    const auto range = std::filesystem::directory_iterator(directory_);
    return static_cast<std::size_t>(std::distance(begin(range), end(range)));
  }
  static Record read() {
    Result<Record> record = read_record(record_path());
    EXPECT_TRUE(record) << record.status().to_string();
    return record ? *record : Record{};
  }
  static const FunctionCount& of(const Record& record, Function function) {
    return record.counts.functions[static_cast<std::size_t>(function)];
  }
  static std::uint64_t waits(const FunctionCount& counts, Wait kind) {
    return counts.waits[static_cast<std::size_t>(kind)].count;
  }

  std::string directory_;
};

TEST_F(Stats, ACallIsTheOutermostOne) {
  {
    const CallScope outer(Function::kHipMemcpy_spt);
    const CallScope inner(Function::kHipMemcpyAsync);
    count_post();
  }
  { const CallScope local(Function::kHipGetDevice); }
  const Record record = read();
  EXPECT_EQ(of(record, Function::kHipMemcpy_spt).calls, 1u);
  EXPECT_EQ(of(record, Function::kHipMemcpy_spt).posts, 1u);
  EXPECT_EQ(of(record, Function::kHipMemcpy_spt).local, 0u);
  EXPECT_EQ(of(record, Function::kHipMemcpyAsync).calls, 0u);
  EXPECT_EQ(of(record, Function::kHipGetDevice).local, 1u);
}

TEST_F(Stats, AWaitInsideAnotherIsPartOfIt) {
  {
    const CallScope call(Function::kHipMemcpy);
    const WaitScope outer(Wait::kWord);
    const WaitScope inner(Wait::kReply);
  }
  const Record record = read();
  const FunctionCount& counts = of(record, Function::kHipMemcpy);
  EXPECT_EQ(waits(counts, Wait::kWord), 1u);
  EXPECT_EQ(waits(counts, Wait::kReply), 0u);
}

TEST_F(Stats, ThreadsCountIntoOneRecordAndTheLibrarysOwnApart) {
  { const CallScope first(Function::kHipGetDevice); }
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([] {
      for (int call = 0; call < 1000; ++call) {
        const CallScope scope(Function::kHipStreamQuery);
        const WaitScope wait(Wait::kReply);
      }
      const WaitScope outside(Wait::kTransfer);
    });
  for (std::thread& thread : threads) thread.join();
  const Record record = read();
  EXPECT_EQ(of(record, Function::kHipStreamQuery).calls, 4000u);
  EXPECT_EQ(waits(of(record, Function::kHipStreamQuery), Wait::kReply), 4000u);
  EXPECT_EQ(waits(record.counts.outside, Wait::kTransfer), 4u);
  EXPECT_EQ(files(), 1u);
}

// The first threads need no locked instructions, the others do: no count is lost among those.
TEST_F(Stats, ThreadsBeyondThoseWithCountsOfTheirOwnShareTheRecords) {
  constexpr std::size_t kSharing = 3;
  constexpr std::uint64_t kCalls = 20000;
  std::barrier start(kCountingThreadsMax + kSharing);
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < kCountingThreadsMax + kSharing; ++i)
    threads.emplace_back([&start] {
      { const CallScope first(Function::kHipGetDevice); }  // takes its place
      start.arrive_and_wait();
      for (std::uint64_t call = 0; call < kCalls; ++call) {
        const CallScope scope(Function::kHipStreamQuery);
        count_post();
        count_to_device(2);
      }
    });
  for (std::thread& thread : threads) thread.join();
  const auto index = static_cast<std::size_t>(Function::kHipStreamQuery);
  const auto file = std::make_unique<RecordFile>();
  std::ifstream(record_path(), std::ios::binary).read(reinterpret_cast<char*>(file.get()), sizeof *file);
  for (const Counts& own : file->own) {
    EXPECT_EQ(own.functions[index].posts, kCalls);
    EXPECT_EQ(own.to_device.bytes, 2 * kCalls);
  }
  EXPECT_EQ(file->record.counts.functions[index].posts, kSharing * kCalls);
  const Record record = read();
  EXPECT_EQ(of(record, Function::kHipStreamQuery).calls, (kCountingThreadsMax + kSharing) * kCalls);
  EXPECT_EQ(record.counts.to_device.count, (kCountingThreadsMax + kSharing) * kCalls);
}

TEST_F(Stats, AForkedChildHasARecordOfItsOwn) {
  const CallScope during(Function::kHipGetDevice);
  const pid_t child = ::fork();
  if (child == 0) {
    { const CallScope scope(Function::kHipStreamQuery); }
    const bool right = read().pid == static_cast<std::uint64_t>(::getpid()) &&
                       of(read(), Function::kHipStreamQuery).calls == 1;
    ::_exit(right ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(files(), 2u);
  EXPECT_EQ(of(read(), Function::kHipStreamQuery).calls, 0u);
}

TEST_F(Stats, ADirectoryThatIsMissingSwitchesItOff) {
  restart(directory_ + "/missing");
  { const CallScope scope(Function::kHipGetDevice); }
  EXPECT_FALSE(counting());
  EXPECT_EQ(record_path(), "");
  EXPECT_EQ(queue_observer(), nullptr);
}

TEST_F(Stats, NothingIsCountedWithoutTheVariable) {
  restart("");
  { const CallScope scope(Function::kHipGetDevice); }
  EXPECT_FALSE(counting());
  count_post();
  count_to_device(1);
  note_end();
  EXPECT_EQ(files(), 0u);
}

TEST_F(Stats, ForeignFilesAreNoRecords) {
  { const CallScope scope(Function::kHipGetDevice); }
  const std::string whole = record_path();
  EXPECT_EQ(read_record(directory_ + "/none").code(), Code::kUnavailable);
  EXPECT_EQ(read_record(directory_).code(), Code::kProtocol);
  const std::string cut = directory_ + "/cut";
  std::filesystem::copy(whole, cut);
  std::filesystem::resize_file(cut, sizeof(RecordFile) - 1);
  EXPECT_EQ(read_record(cut).code(), Code::kProtocol);
  std::filesystem::resize_file(cut, sizeof(RecordFile) + 1);
  EXPECT_EQ(read_record(cut).code(), Code::kProtocol);
  std::filesystem::resize_file(cut, sizeof(RecordFile));
  EXPECT_EQ(read_record(cut).code(), Code::kOk);
  std::ofstream(cut, std::ios::in | std::ios::binary) << "another";
  EXPECT_EQ(read_record(cut).code(), Code::kProtocol);
}

TEST_F(Stats, ASessionsWaitsAndPosts) {
  { const CallScope deciding(Function::kHipInit); }
  auto [own_end, worker_end] = make_loopback_pair();
  FakeWorker worker(std::move(worker_end), std::uint64_t{1} << 30);
  Connected parts;
  parts.endpoint = std::move(own_end);
  parts.snapshot = fake_snapshot(std::uint64_t{1} << 30);
  Client client(std::move(parts));
  {
    const CallScope scope(Function::kHipStreamSynchronize);
    EXPECT_EQ(client.connection().call(0, protocol::SynchronizeStreamRequest{0}), hipSuccess);
  }
  {
    const CallScope scope(Function::kHipEventDestroy);
    EXPECT_EQ(client.connection().post(0, protocol::EventDestroyRequest{}), hipSuccess);
  }
  worker.die();
  {
    const CallScope scope(Function::kHipDeviceSynchronize);
    EXPECT_EQ(client.connection().call(0, protocol::SynchronizeDeviceRequest{}), kLostError);
  }
  const Record record = read();
  EXPECT_EQ(waits(of(record, Function::kHipStreamSynchronize), Wait::kReply), 1u);
  EXPECT_EQ(of(record, Function::kHipStreamSynchronize).local, 0u);
  EXPECT_EQ(of(record, Function::kHipEventDestroy).posts, 1u);
  EXPECT_EQ(waits(of(record, Function::kHipEventDestroy), Wait::kReply), 0u);
  EXPECT_EQ(waits(of(record, Function::kHipDeviceSynchronize), Wait::kReply), 1u);
  EXPECT_EQ(record.lost, 1u);
}

// A worker may send anything at any time.
TEST_F(Stats, WhatTheWorkerHasExecutedIsTakenOnlyByWhoAskedAndWhole) {
  ::setenv("TF_TRACE", directory_.c_str(), 1);
  { const CallScope deciding(Function::kHipInit); }
  ::unsetenv("TF_TRACE");
  ASSERT_TRUE(is_tracing());
  auto [own_end, worker_end] = make_loopback_pair();
  FakeWorker worker(std::move(worker_end), std::uint64_t{1} << 30);
  Connected parts;
  parts.endpoint = std::move(own_end);
  parts.snapshot = fake_snapshot(std::uint64_t{1} << 30);
  Client client(std::move(parts));
  WorkerTrace& trace = client.connection().worker_trace();
  const std::vector<std::byte> bytes(sizeof(protocol::Execution) * (protocol::kExecutionsInNotice + 1));
  const std::span<const std::byte> all = bytes;
  EXPECT_EQ(trace.take_executions(all.first(sizeof(protocol::Execution))).code(), Code::kProtocol);
  EXPECT_EQ(trace.take_name(7, all.first(5)).code(), Code::kProtocol);
  trace.begin();
  EXPECT_TRUE(trace.take_executions(all.first(sizeof(protocol::Execution))).is_ok());
  EXPECT_TRUE(trace.take_executions(all.subspan(sizeof(protocol::Execution))).is_ok());
  EXPECT_TRUE(trace.take_name(7, all.first(5)).is_ok());
  EXPECT_TRUE(trace.take_name(7, {}).is_ok());
  EXPECT_EQ(trace.take_executions({}).code(), Code::kProtocol);
  EXPECT_EQ(trace.take_executions(all).code(), Code::kProtocol);
  EXPECT_EQ(trace.take_executions(all.first(sizeof(protocol::Execution) + 1)).code(), Code::kProtocol);
  EXPECT_EQ(trace.take_name(7, all.first(protocol::kExecutionNameBytes + 1)).code(), Code::kProtocol);
}

}  // namespace
}  // namespace tf::proxy::stats
