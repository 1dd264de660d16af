// SPDX-License-Identifier: Apache-2.0
// Reads and checks a file of statistics.
#include "proxy/stats/record.h"

#include <cstddef>

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

Result<Record> read_record(const std::string& path) {
  FileReader file(path);
  if (!file) return Status(Code::kUnavailable, path + " cannot be opened");
  Record record;
  std::byte behind{};
  if (file.read(&record, sizeof record) != sizeof record || file.read(&behind, 1) != 0)
    return Status(Code::kProtocol, path + " does not have the size of a record");
  if (record.magic != kRecordMagic || record.functions_hash != kFunctionsHash)
    return Status(Code::kProtocol, path + " is not a record, or comes from another version of libamdhip64");
  record.program.back() = '\0';
  record.transport.back() = '\0';
  const ClockScale clock(record.clock);
  record.started = clock.time_of(record.started);
  record.last = clock.time_of(record.last);
  scale(clock, record.outside);
  for (FunctionCount& counts : record.functions) scale(clock, counts);
  return record;
}

}  // namespace tf::proxy::stats
