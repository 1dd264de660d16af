// SPDX-License-Identifier: Apache-2.0
// Reads and checks a file of statistics.
#include "proxy/stats/record.h"

#include <algorithm>
#include <cstddef>
#include <memory>

#include "transport/base/file_reader.h"

namespace tf::proxy::stats {
namespace {

void scale(const ClockScale& clock, FunctionCount& counts) {
  for (WaitCount& wait : counts.waits) {
    wait.total = clock.length_of(wait.total);
    wait.longest = clock.length_of(wait.longest);
  }
}

}  // namespace

void add(WaitCount& sum, const WaitCount& part) {
  sum.count += part.count;
  sum.total += part.total;
  sum.longest = std::max(sum.longest, part.longest);
}

void add(FunctionCount& sum, const FunctionCount& part) {
  sum.calls += part.calls;
  sum.local += part.local;
  sum.posts += part.posts;
  for (std::size_t kind = 0; kind < sum.waits.size(); ++kind) add(sum.waits[kind], part.waits[kind]);
}

void add(CopyCount& sum, const CopyCount& part) {
  sum.count += part.count;
  sum.bytes += part.bytes;
}

void add(Counts& sum, const Counts& part) {
  add(sum.to_device, part.to_device);
  add(sum.from_device, part.from_device);
  add(sum.outside, part.outside);
  for (std::size_t index = 0; index < sum.functions.size(); ++index)
    add(sum.functions[index], part.functions[index]);
}

Result<Record> read_record(const std::string& path) {
  FileReader file(path);
  if (!file) return Status(Code::kUnavailable, path + " cannot be opened");
  const auto whole = std::make_unique<RecordFile>();  // large for a stack
  std::byte behind{};
  if (file.read(whole.get(), sizeof *whole) != sizeof *whole || file.read(&behind, 1) != 0)
    return Status(Code::kProtocol, path + " does not have the size of a record");
  Record& record = whole->record;
  if (record.magic != kRecordMagic || record.functions_hash != kFunctionsHash)
    return Status(Code::kProtocol, path + " is not a record, or comes from another version of libamdhip64");
  record.program.back() = '\0';
  record.transport.back() = '\0';
  const ClockScale clock(record.clock);
  record.started = clock.time_of(record.started);
  record.last = clock.time_of(record.last);
  for (const Counts& counts : whole->own) add(record.counts, counts);
  scale(clock, record.counts.outside);
  for (FunctionCount& counts : record.counts.functions) scale(clock, counts);
  return record;
}

}  // namespace tf::proxy::stats
