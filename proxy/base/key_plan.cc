// SPDX-License-Identifier: Apache-2.0
// Decides about levels and files of keys.
#include "proxy/base/key_plan.h"

#include <utility>

#include "transport/secure/key_file.h"

namespace tf::proxy {
namespace {

Result<std::string> usual(const std::string& given, const char* variable, const char* name) {
  if (!given.empty()) return given;
  std::string path = secure::settings_file(name);
  if (!path.empty()) return path;
  return Status(Code::kInvalidArgument,
                std::string(variable) + " is not set, and there is no HOME in which to look for a file");
}

}  // namespace

Result<KeyPlan> plan_keys(const Settings& settings, const net::Address& address, bool on_host) {
  using secure::Level;
  KeyPlan plan;
  if (address.is_unix()) return plan;
  const bool wanted = !settings.key_file.empty() || !on_host;
  plan.level = settings.security.value_or(wanted ? Level::kEncrypt : Level::kNone);
  if (plan.level == Level::kNone) {
    if (on_host) return plan;
    return Status(Code::kPermission, "TF_SECURITY=none is for workers on this host; " + address.to_string() +
                                         " is another one, which could be anybody's");
  }
  Result<std::string> key_file = usual(settings.key_file, "TF_KEY_FILE", "key");
  if (!key_file) return key_file.status();
  Result<std::string> known = usual(settings.known_workers, "TF_KNOWN_WORKERS", "known_workers");
  if (!known) return known.status();
  plan.key_file = std::move(*key_file);
  plan.known_workers = std::move(*known);
  return plan;
}

}  // namespace tf::proxy
