// SPDX-License-Identifier: Apache-2.0
// The file that says whose keys a worker lets in. A line for each key:
//
//   NAME ed25519 BASE64 [OPTION]...        # alice ed25519 3q2+7w... expires=2027-01-31
//
// NAME is the tenant's, as logs call it: letters, digits and ". _ @ -". A tenant may have several keys; a key
// belongs to one tenant. Options:
//   expires=YYYY-MM-DD   not from that day on, in UTC
// Empty lines, and lines that begin with '#', say nothing. Anything else is an error with its line's number:
// a line that is not understood must not let in whom its author wanted to keep out.
#pragma once

#include <chrono>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "transport/base/status.h"
#include "transport/secure/key.h"

namespace tf::secure {

inline constexpr std::size_t kAuthorizedKeysMax = 4096;
inline constexpr std::size_t kAuthorizedBytesMax = 1 << 20;  // of the file
inline constexpr std::size_t kTenantNameBytesMax = 64;

struct Tenant {
  std::string name;
  std::optional<std::chrono::sys_days> expires;  // not from then on
};

// "Ok", or what a tenant's name must look like.
Status check_tenant_name(std::string_view name);

class AuthorizedKeys {
 public:
  using Clock = std::chrono::system_clock;

  // Messages begin with "line N: ".
  static Result<AuthorizedKeys> parse(std::string_view text);
  // Messages begin with the path.
  static Result<AuthorizedKeys> read(const std::string& path);

  // The tenant of this key. kPermission: why it may not come in.
  Result<Tenant> find(const PublicKey& key, Clock::time_point now = Clock::now()) const;
  std::size_t size() const { return tenants_.size(); }

 private:
  std::map<PublicKey, Tenant> tenants_;
};

}  // namespace tf::secure
