// SPDX-License-Identifier: Apache-2.0
// hip-remote keygen: makes a secret key, and shows what others may know of it.
#include <fmt/core.h>
#include <pwd.h>
#include <unistd.h>

#include <array>
#include <fstream>
#include <string>

#include "tools/command_line/command_line.h"
#include "tools/hip-remote/commands.h"
#include "transport/secure/authorized_keys.h"
#include "transport/secure/key.h"
#include "transport/secure/key_file.h"

namespace tf::tools {
namespace {

constexpr int kExitFailure = 1;

int fail(const std::string& why, int code = kExitFailure) {
  fmt::print(stderr, "hip-remote keygen: {}\n", why);
  return code;
}

// USER@HOST, as far as they can be told and are allowed in a name.
std::string usual_name() {
  const passwd* const entry = ::getpwuid(::geteuid());
  std::array<char, 256> host{};
  if (::gethostname(host.data(), host.size() - 1) != 0) host[0] = '\0';
  std::string name = entry != nullptr ? entry->pw_name : "user";
  if (host[0] != '\0') name += "@" + std::string(host.data());
  for (char& character : name)
    if (!secure::check_tenant_name({&character, 1})) character = '-';
  return name.substr(0, secure::kTenantNameBytesMax);
}

std::string public_line(const std::string& name, const secure::PublicKey& key) {
  return (name.empty() ? usual_name() : name) + " " + key.to_text();
}

// Anybody may read it. A second one from the same key is as good as the first.
Status write_public_line(const std::string& path, const std::string& line) {
  std::ofstream file(path, std::ios::trunc);
  file << line << "\n";
  file.close();
  if (file) return Status::ok();
  return {Code::kUnavailable, path + " cannot be written"};
}

}  // namespace

int keygen(const KeygenOptions& options) {
  const std::string file = options.file.empty() ? secure::settings_file("key") : options.file;
  if (options.too_many) return fail("one FILE at a time", reference::kExitUsage);
  if (file.empty()) return fail("there is no HOME for the usual file; name one", reference::kExitUsage);
  if (!options.name.empty())
    if (const Status wrong = secure::check_tenant_name(options.name); !wrong)
      return fail("--name: " + wrong.message(), reference::kExitUsage);
  const Result<secure::SecretKey> key = options.show ? secure::read_key_file(file) : secure::generate_key();
  if (!key) return fail(key.status().message());
  const Result<secure::PublicKey> open = secure::public_key_of(key.value());  // before anything is written
  if (!open) return fail(open.status().message());
  const std::string line = public_line(options.name, open.value());
  if (!options.show) {
    Status wrote = secure::write_key_file(file, key.value());
    if (!wrote) return fail(wrote.message() + " (--show prints its public line)");
    wrote = write_public_line(file + ".pub", line);
    if (!wrote) return fail(wrote.message());
    fmt::print(stderr, "made {}, which must stay secret, and {}.pub\n", file, file);
  }
  fmt::print(stderr, "fingerprint: {}\n", secure::fingerprint(open.value()));
  fmt::print("{}\n", line);
  return 0;
}

}  // namespace tf::tools
