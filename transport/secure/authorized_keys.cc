// SPDX-License-Identifier: Apache-2.0
// Parses the file of authorized keys.
#include "transport/secure/authorized_keys.h"

#include <charconv>
#include <utility>

#include "transport/secure/file.h"

namespace tf::secure {
namespace {

constexpr std::string_view kExpires = "expires=";

// Digits only; none: it is no number.
std::optional<int> number(std::string_view text) {
  int value = 0;
  if (text.find_first_not_of("0123456789") != std::string_view::npos) return std::nullopt;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<std::chrono::sys_days> parse_day(std::string_view text) {
  if (text.size() != 10 || text[4] != '-' || text[7] != '-') return std::nullopt;
  const std::optional<int> year = number(text.substr(0, 4));
  const std::optional<int> month = number(text.substr(5, 2));
  const std::optional<int> day = number(text.substr(8, 2));
  if (!year || !month || !day) return std::nullopt;
  const std::chrono::year_month_day date{std::chrono::year(*year),
                                         std::chrono::month(static_cast<unsigned>(*month)),
                                         std::chrono::day(static_cast<unsigned>(*day))};
  if (!date.ok()) return std::nullopt;
  return std::chrono::sys_days(date);
}

Status take_option(std::string_view option, Tenant& tenant) {
  if (!option.starts_with(kExpires)) {
    tenant.options.emplace_back(option);
    return Status::ok();
  }
  if (tenant.expires) return invalid_argument("expires= stands there twice");
  tenant.expires = parse_day(option.substr(kExpires.size()));
  if (!tenant.expires) return invalid_argument("\"" + shown(option) + "\": expected expires=YYYY-MM-DD");
  return Status::ok();
}

Status take_line(std::string_view line, const CheckOptions& check, PublicKey& key, Tenant& tenant) {
  const std::string_view name = take_word(line);
  TF_RETURN_IF_ERROR(check_tenant_name(name));
  tenant.name = name;
  if (const std::string_view type = take_word(line); type != kKeyType)
    return invalid_argument("\"" + shown(type) +
                            "\" in the place of a key's type; expected NAME ed25519 BASE64");
  const std::optional<PublicKey> parsed = parse_public_key(take_word(line));
  if (!parsed) return invalid_argument("this is not the base64 of a public key (44 characters)");
  key = *parsed;
  while (!line.empty()) TF_RETURN_IF_ERROR(take_option(take_word(line), tenant));
  return tenant.options.empty() ? Status::ok() : check(tenant.options);
}

}  // namespace

Status no_other_options(std::span<const std::string> options) {
  if (options.empty()) return Status::ok();
  return invalid_argument("unknown option \"" + shown(options.front()) + "\"; possible: expires=YYYY-MM-DD");
}

Status check_tenant_name(std::string_view name) {
  constexpr std::string_view kAllowed = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._@-";
  if (!name.empty() && name.size() <= kTenantNameBytesMax &&
      name.find_first_not_of(kAllowed) == std::string_view::npos)
    return Status::ok();
  return invalid_argument("\"" + shown(name) + "\" is no name: expected up to " +
                          std::to_string(kTenantNameBytesMax) + " letters, digits, and . _ @ -");
}

Result<AuthorizedKeys> AuthorizedKeys::parse(std::string_view text, const CheckOptions& check) {
  AuthorizedKeys keys;
  const Status status = for_each_line(text, [&](std::size_t number, std::string_view line) {
    PublicKey key;
    Tenant tenant;
    Status taken = take_line(line, check, key, tenant);
    if (taken && keys.tenants_.size() == kAuthorizedKeysMax)
      taken = {Code::kResourceExhausted, "more than " + std::to_string(kAuthorizedKeysMax) + " keys"};
    if (taken && !keys.tenants_.emplace(key, std::move(tenant)).second)
      taken = invalid_argument("this key stands there already");
    return taken ? taken : Status(taken.code(), "line " + std::to_string(number) + ": " + taken.message());
  });
  if (!status) return status;
  return keys;
}

Result<AuthorizedKeys> AuthorizedKeys::read(const std::string& path, const CheckOptions& check) {
  const Result<std::string> text = read_private_file(path, Privacy::kTrusted, kAuthorizedBytesMax);
  if (!text) return text.status();
  Result<AuthorizedKeys> keys = parse(text.value(), check);
  if (!keys) return Status(keys.code(), path + ", " + keys.status().message());
  return keys;
}

Result<Tenant> AuthorizedKeys::find(const PublicKey& key, Clock::time_point now) const {
  const auto found = tenants_.find(key);
  if (found == tenants_.end()) return Status(Code::kPermission, "this worker does not know the key");
  const Tenant& tenant = found->second;
  if (tenant.expires && now >= *tenant.expires)
    return Status(Code::kPermission, "the key of " + tenant.name + " has expired");
  return tenant;
}

}  // namespace tf::secure
