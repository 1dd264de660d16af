// SPDX-License-Identifier: Apache-2.0
// Reads and writes the file of devices' limits.
#include "hipcore/limits/device_limits.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <optional>

#include "transport/net/fd.h"

namespace tf::hipcore {
namespace {

constexpr std::string_view kMemoryWord = "memory=";
constexpr mode_t kMode = 0644;

// Of 64 bits: FNV-1a.
constexpr std::uint64_t kFnvStart = 0xcbf29ce484222325;
constexpr std::uint64_t kFnvPrime = 0x100000001b3;

std::string_view trimmed(std::string_view line) {
  const std::size_t first = line.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return {};
  return line.substr(first, line.find_last_not_of(" \t\r") - first + 1);
}

struct Line {
  std::string_view uuid;
  std::uint64_t memory_bytes = 0;
};

std::optional<Line> parse_line(std::string_view line) {
  const std::size_t blank = line.find_first_of(" \t");
  if (blank == std::string_view::npos) return std::nullopt;
  std::string_view word = trimmed(line.substr(blank));
  Line parsed{line.substr(0, blank), 0};
  if (!word.starts_with(kMemoryWord)) return std::nullopt;
  word.remove_prefix(kMemoryWord.size());
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), parsed.memory_bytes);
  const bool whole = error == std::errc() && end == word.data() + word.size();
  return whole && parsed.memory_bytes != 0 ? std::optional(parsed) : std::nullopt;
}

Result<std::string> read_all(int file) {
  std::string text;
  char part[4096];
  for (;;) {
    const ssize_t got = ::read(file, part, sizeof part);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return Status::from_errno("the file of devices' limits", errno);
    if (got == 0) return text;
    text.append(part, static_cast<std::size_t>(got));
    if (text.size() > kDeviceLimitsBytesMax)
      return Status(Code::kResourceExhausted, "the file of devices' limits is too long");
  }
}

Result<std::string> read_text(const std::string& path) {
  const net::OwnedFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (!file && errno == ENOENT) return std::string();
  if (!file) return Status::from_errno(path, errno);
  struct stat facts {};
  if (::fstat(file.get(), &facts) != 0) return Status::from_errno(path, errno);
  const bool owned = facts.st_uid == 0 || facts.st_uid == ::geteuid();
  if (!S_ISREG(facts.st_mode) || !owned || (facts.st_mode & (S_IWGRP | S_IWOTH)) != 0)
    return Status(Code::kPermission,
                  path + " has to be a file of this user or of root that nobody else may write");
  return read_all(file.get());
}

Status write_whole(int file, std::string_view text) {
  while (!text.empty()) {
    const ssize_t put = ::write(file, text.data(), text.size());
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return Status::from_errno("the file of devices' limits", errno);
    text.remove_prefix(static_cast<std::size_t>(put));
  }
  return ::fsync(file) == 0 ? Status::ok() : Status::from_errno("the file of devices' limits", errno);
}

// Another file beside it takes its name.
Status replace(const std::string& path, std::string_view text) {
  const std::string fresh = path + ".new." + std::to_string(::getpid());
  static_cast<void>(::unlink(fresh.c_str()));
  const net::OwnedFd file(::open(fresh.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, kMode));
  if (!file) return Status::from_errno(fresh, errno);
  Status done =
      ::fchmod(file.get(), kMode) == 0 ? write_whole(file.get(), text) : Status::from_errno(fresh, errno);
  if (done && ::rename(fresh.c_str(), path.c_str()) != 0) done = Status::from_errno(path, errno);
  if (!done) static_cast<void>(::unlink(fresh.c_str()));
  return done;
}

}  // namespace

std::uint64_t device_number(std::string_view uuid) {
  std::uint64_t number = kFnvStart;
  for (const char letter : uuid)
    number =
        (number ^ static_cast<std::uint64_t>(std::tolower(static_cast<unsigned char>(letter)))) * kFnvPrime;
  return number == 0 ? 1 : number;
}

Result<std::vector<DeviceLimit>> parse_device_limits(std::string_view text) {
  std::vector<DeviceLimit> limits;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = trimmed(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.empty() || line.front() == '#') continue;
    const std::optional<Line> parsed = parse_line(line);
    if (!parsed)
      return Status(Code::kInvalidArgument,
                    "line " + std::to_string(number) + ": expected UUID memory=BYTES");
    const DeviceLimit limit{device_number(parsed->uuid), parsed->memory_bytes};
    const auto same = std::ranges::find(limits, limit.device, &DeviceLimit::device);
    if (same != limits.end())
      *same = limit;
    else if (limits.size() < kDeviceLimitsMax)
      limits.push_back(limit);
    else
      return Status(Code::kResourceExhausted, "more than 64 devices");
  }
  return limits;
}

Result<std::vector<DeviceLimit>> read_device_limits(const std::string& path) {
  Result<std::string> text = read_text(path);
  if (!text) return text.status();
  Result<std::vector<DeviceLimit>> limits = parse_device_limits(*text);
  if (!limits) return Status(limits.code(), path + ", " + limits.status().message());
  return limits;
}

Status write_device_limit(const std::string& path, std::string_view uuid, std::uint64_t memory_bytes) {
  Result<std::string> before = read_text(path);
  if (!before) return before.status();
  std::string after;
  std::string_view text = *before;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const std::optional<Line> parsed = parse_line(trimmed(line));
    if (!parsed || device_number(parsed->uuid) != device_number(uuid)) after.append(line).append("\n");
  }
  after.append(uuid).append(" ").append(kMemoryWord).append(std::to_string(memory_bytes)).append("\n");
  TF_RETURN_IF_ERROR(parse_device_limits(after).status());
  return replace(path, after);
}

}  // namespace tf::hipcore
