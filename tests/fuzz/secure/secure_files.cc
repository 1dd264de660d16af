// SPDX-License-Identifier: Apache-2.0
// Fuzz entry: files of keys, as somebody else may have written them. What is accepted is what it says, and
// messages show nothing that a terminal would act upon.
#include <algorithm>
#include <string>
#include <string_view>

#include "transport/secure/authorized_keys.h"
#include "transport/secure/key.h"
#include "transport/secure/known_workers.h"

namespace {

void expect_harmless(const tf::Status& status) {
  if (!std::ranges::all_of(status.message(), [](char one) { return one >= ' ' && one <= '~'; }))
    __builtin_trap();
}

void try_secret_key(std::string_view text) {
  const tf::Result<tf::secure::SecretKey> key = tf::secure::parse_secret_key(text);
  expect_harmless(key.status());
  if (!key) return;
  const tf::Result<tf::secure::SecretKey> again =
      tf::secure::parse_secret_key(tf::secure::to_pem(key.value()));
  if (!again || !(again.value() == key.value())) __builtin_trap();
}

void try_known_workers(std::string_view text) {
  const tf::Result<tf::secure::KnownWorkers> known = tf::secure::KnownWorkers::parse(text);
  expect_harmless(known.status());
  const tf::secure::KnownWorkers::Entry* const entry = known ? known.value().find("gpu:1") : nullptr;
  if (entry == nullptr) return;
  if (known.value().ask("gpu:1", entry->key) != tf::secure::KnownWorkers::Answer::kSame) __builtin_trap();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const tf::Result<tf::secure::AuthorizedKeys> keys = tf::secure::AuthorizedKeys::parse(text);
  expect_harmless(keys.status());
  if (keys && keys.value().size() > tf::secure::kAuthorizedKeysMax) __builtin_trap();
  try_known_workers(text);
  try_secret_key(text);
  if (const auto key = tf::secure::parse_public_key(text); key && !key->to_text().ends_with(text))
    __builtin_trap();
  return 0;
}
