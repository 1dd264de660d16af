// SPDX-License-Identifier: Apache-2.0
// Reads and writes files of secret keys.
#include "transport/secure/key_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

#include "transport/secure/file.h"

namespace tf::secure {
namespace {

Status write_whole(int file, const std::string& path, std::string_view text) {
  while (!text.empty()) {
    const ssize_t wrote = ::write(file, text.data(), text.size());
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0) return Status::from_errno(path, errno);
    text.remove_prefix(static_cast<std::size_t>(wrote));
  }
  if (::fsync(file) != 0) return Status::from_errno(path, errno);
  return Status::ok();
}

}  // namespace

Result<SecretKey> read_key_file(const std::string& path) {
  Result<std::string> text = read_private_file(path, Privacy::kSecret, kKeyTextBytesMax);
  if (!text) return text.status();
  Result<SecretKey> key = parse_secret_key(*text);
  ::explicit_bzero(text->data(), text->size());
  if (!key) return Status(key.code(), path + ": " + key.status().message());
  return key;
}

Status write_key_file(const std::string& path, const SecretKey& key) {
  TF_RETURN_IF_ERROR(make_folder_of(path));
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (file < 0 && errno == EEXIST)
    return {Code::kInvalidArgument, path + " exists already; a key is never overwritten"};
  if (file < 0) return Status::from_errno(path, errno);
  std::string pem = to_pem(key);
  const Status wrote = write_whole(file, path, pem);
  ::explicit_bzero(pem.data(), pem.size());
  ::close(file);
  if (!wrote) ::unlink(path.c_str());
  return wrote;
}

std::string settings_file(const std::string& file) {
  const char* const config = std::getenv("XDG_CONFIG_HOME");
  if (config != nullptr && *config == '/') return std::string(config) + "/hip-remote/" + file;
  const char* const home = std::getenv("HOME");
  if (home != nullptr && *home == '/') return std::string(home) + "/.config/hip-remote/" + file;
  return {};
}

Status make_folder_of(const std::string& path) {
  for (std::size_t slash = path.find('/', 1); slash != std::string::npos; slash = path.find('/', slash + 1)) {
    const std::string folder = path.substr(0, slash);
    if (::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) {
      struct stat info {};
      const int error = errno;
      if (::stat(folder.c_str(), &info) != 0) return Status::from_errno(folder, error);
    }
  }
  return Status::ok();
}

}  // namespace tf::secure
