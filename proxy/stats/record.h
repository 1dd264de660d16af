// SPDX-License-Identifier: Apache-2.0
// Record: what one process counted about its calls, in a file that the process maps.
//
// Times are ticks of the process's clock in the file (clock.h), and nanoseconds in what read_record()
// returns: points in time those of CLOCK_MONOTONIC.
//
// The process adds to the mapping while it runs, so the file is complete however the process ends. The first
// threads that call count into counts of their own: those need no locked instructions. All others share the
// record's. read_record() returns the sum. It treats the file as hostile: it checks the size, the marks and
// the text fields.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>

#include "proxy/gen/functions.h"
#include "proxy/stats/clock.h"
#include "transport/base/status.h"

namespace tf::proxy::stats {

// What a call waits for.
enum class Wait : std::uint8_t {
  kReply,     // the answer of a synchronous call
  kTransfer,  // payload on the bulk plane
  kWord,      // a word of shared memory that a stream writes after a copy
  kRoom,      // the worker is behind: the ring is full
  kConnect,   // the first call of a process: connection, HELLO, snapshot
};
inline constexpr std::size_t kWaitKinds = 5;

struct WaitCount {
  std::uint64_t count = 0;
  std::uint64_t total = 0;
  std::uint64_t longest = 0;
};

struct FunctionCount {
  std::uint64_t calls = 0;
  std::uint64_t local = 0;  // those answered without a message
  std::uint64_t posts = 0;  // messages without a wait
  std::array<WaitCount, kWaitKinds> waits{};
};

struct CopyCount {
  std::uint64_t count = 0;
  std::uint64_t bytes = 0;
};

// What one thread counted, or several.
struct Counts {
  CopyCount to_device;
  CopyCount from_device;
  FunctionCount outside;  // outside calls: the library's own threads, the process's end
  std::array<FunctionCount, kFunctionNames.size()> functions{};
};

inline constexpr std::uint64_t kRecordMagic = 0x3353544154534648;  // "HFSTATS3"
inline constexpr std::size_t kTextBytes = 64;

struct Record {
  std::uint64_t magic = kRecordMagic;
  std::uint64_t functions_hash = kFunctionsHash;
  std::uint64_t pid = 0;
  ClockLog clock;
  std::uint64_t started = 0;
  std::uint64_t last = 0;   // end of the last call, or of the process
  std::uint64_t ended = 0;  // 1: the process ended normally
  std::uint64_t lost = 0;   // 1: it lost its worker
  std::array<char, kTextBytes> program{};
  std::array<char, kTextBytes> transport{};
  Counts counts;  // in the file: of the threads without counts of their own
};
static_assert(std::is_trivially_copyable_v<Record> && std::is_standard_layout_v<Record>);

inline constexpr std::size_t kCountingThreadsMax = 4;  // with counts of their own

struct RecordFile {
  Record record;
  std::uint64_t threads = 0;  // that asked for counts of their own
  std::array<Counts, kCountingThreadsMax> own{};
};
static_assert(std::is_trivially_copyable_v<RecordFile> && std::is_standard_layout_v<RecordFile>);

// Adds a part to a sum.
void add(WaitCount& sum, const WaitCount& part);
void add(FunctionCount& sum, const FunctionCount& part);
void add(CopyCount& sum, const CopyCount& part);
void add(Counts& sum, const Counts& part);

// kProtocol: the file holds no record of this version.
Result<Record> read_record(const std::string& path);

}  // namespace tf::proxy::stats
