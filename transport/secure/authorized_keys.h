// SPDX-License-Identifier: Apache-2.0
// The file that says whose keys a worker lets in. A line for each key:
//
//   NAME ed25519 BASE64 [OPTION]...        # alice ed25519 3q2+7w... expires=2027-01-31
//
// NAME is the tenant's, as logs call it: letters, digits and ". _ @ -". A tenant may have several keys; a key
// belongs to one tenant. Options:
//   expires=YYYY-MM-DD   not from that day on, in UTC
// and what the reader of the file knows besides (hip-worker: limits, worker/base/limits.h).
// Empty lines, and lines that begin with '#', say nothing. Anything else is an error with its line's number:
// a line that is not understood must not let in whom its author wanted to keep out.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "transport/base/status.h"
#include "transport/secure/key.h"

namespace tf::secure {

inline constexpr std::size_t kAuthorizedKeysMax = 4096;
inline constexpr std::size_t kAuthorizedBytesMax = 1 << 20;  // of the file
inline constexpr std::size_t kTenantNameBytesMax = 64;

struct Tenant {
  std::string name;
  std::optional<std::chrono::sys_days> expires;  // not from then on
  std::vector<std::string> options;              // the others, as they stand there
};

// Whether all of them are options that the reader of the file knows; if not, why.
using CheckOptions = std::function<Status(std::span<const std::string> options)>;
// Knows none.
Status no_other_options(std::span<const std::string> options);

// "Ok", or what a tenant's name must look like.
Status check_tenant_name(std::string_view name);

class AuthorizedKeys {
 public:
  using Clock = std::chrono::system_clock;

  // Messages begin with "line N: ".
  static Result<AuthorizedKeys> parse(std::string_view text, const CheckOptions& check = no_other_options);
  // Messages begin with the path.
  static Result<AuthorizedKeys> read(const std::string& path, const CheckOptions& check = no_other_options);

  // The tenant of this key. kPermission: why it may not come in.
  Result<Tenant> find(const PublicKey& key, Clock::time_point now = Clock::now()) const;
  std::size_t size() const { return tenants_.size(); }
  // Calls visit(tenant) for every key.
  template <typename Visit>
  void for_each(Visit visit) const {
    for (const auto& [key, tenant] : tenants_) visit(tenant);
  }

 private:
  std::map<PublicKey, Tenant> tenants_;
};

}  // namespace tf::secure
