// SPDX-License-Identifier: Apache-2.0
// Reads files of keys, after a look at who may read or write them.
#include "transport/secure/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>

namespace tf::secure {
namespace {

constexpr std::size_t kShownBytesMax = 80;

// Closes it at the end.
struct File {
  explicit File(const std::string& path)
      : fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)) {}
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File() {
    if (fd >= 0) ::close(fd);
  }
  const int fd;
};

std::string octal(mode_t mode) {
  std::array<char, 8> text{};
  std::snprintf(text.data(), text.size(), "%04o", static_cast<unsigned>(mode & 07777));
  return text.data();
}

Status check(const std::string& path, const struct stat& info, Privacy privacy) {
  if (!S_ISREG(info.st_mode)) return {Code::kInvalidArgument, path + " is not a regular file"};
  if (info.st_uid != ::geteuid() && info.st_uid != 0)
    return {Code::kPermission, path + " belongs to user " + std::to_string(info.st_uid) +
                                   ", who could change it; expected user " + std::to_string(::geteuid()) +
                                   " or root"};
  const bool is_given = info.st_uid == 0 && ::geteuid() != 0;  // by root, to us through the file's group
  const mode_t forbidden = privacy == Privacy::kTrusted ? 022 : is_given ? 037 : 077;
  if ((info.st_mode & forbidden) == 0) return Status::ok();
  if (privacy == Privacy::kSecret)
    return {Code::kPermission, path + " has the mode " + octal(info.st_mode) +
                                   ": others may use this key. If nobody has: chmod 600 " + path};
  return {Code::kPermission,
          path + " has the mode " + octal(info.st_mode) + ": others may change it. Run: chmod go-w " + path};
}

}  // namespace

Result<std::string> read_private_file(const std::string& path, Privacy privacy, std::size_t bytes_max) {
  const File file(path);
  if (file.fd < 0) {
    const Status failed = Status::from_errno(path, errno);
    return errno == ENOENT ? Status(Code::kUnavailable, failed.message()) : failed;
  }
  struct stat info {};
  if (::fstat(file.fd, &info) != 0) return Status::from_errno(path, errno);
  TF_RETURN_IF_ERROR(check(path, info, privacy));
  std::string text(bytes_max + 1, '\0');
  std::size_t have = 0;
  while (have < text.size()) {
    const ssize_t got = ::read(file.fd, text.data() + have, text.size() - have);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return Status::from_errno(path, errno);
    if (got == 0) break;
    have += static_cast<std::size_t>(got);
  }
  if (have > bytes_max) {
    ::explicit_bzero(text.data(), text.size());
    return Status(Code::kResourceExhausted, path + " has more than " + std::to_string(bytes_max) + " bytes");
  }
  text.resize(have);
  return text;
}

std::string shown(std::string_view text) {
  std::string result;
  for (const char character : text.substr(0, kShownBytesMax))
    result += character >= ' ' && character <= '~' ? character : '?';
  if (text.size() > kShownBytesMax) result += "...";
  return result;
}

}  // namespace tf::secure
