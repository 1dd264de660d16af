// SPDX-License-Identifier: Apache-2.0
// Looks at this user's keys, and at what is known of workers.
#include "tools/hip-remote/key_facts.h"

#include <fmt/core.h>

#include "proxy/base/key_plan.h"
#include "tools/hip-remote/json.h"
#include "transport/net/address.h"
#include "transport/secure/key.h"
#include "transport/secure/key_file.h"
#include "transport/secure/known_workers.h"
#include "transport/secure/session.h"

namespace tf::tools {
namespace {

void look_at_key(KeyFacts& facts) {
  const Result<secure::SecretKey> key = secure::read_key_file(facts.key_file);
  facts.no_key = key.status().message();
  if (!key) return;
  const Result<secure::PublicKey> open = secure::public_key_of(key.value());
  facts.no_key = open.status().message();
  if (open) facts.fingerprint = secure::fingerprint(open.value());
}

void look_at_worker(const std::string& known_workers, KeyFacts& facts) {
  const Result<secure::KnownWorkers> known = secure::KnownWorkers::read(known_workers);
  if (!known) {
    facts.wrong = known.status().message();
    return;
  }
  const secure::KnownWorkers::Entry* const entry = known.value().find(facts.worker);
  if (entry != nullptr) facts.worker_print = secure::fingerprint(entry->key);
}

}  // namespace

KeyFacts find_key_facts(const proxy::Settings& settings) {
  KeyFacts facts;
  facts.no_library = secure::load_library().message();
  facts.key_file = settings.key_file.empty() ? secure::settings_file("key") : settings.key_file;
  if (facts.no_library.empty() && !facts.key_file.empty()) look_at_key(facts);
  const Result<net::Address> address = net::Address::parse(settings.worker);
  if (!address) return facts;
  const Result<proxy::KeyPlan> plan = proxy::plan_keys(settings, address.value(), address.value().is_local());
  facts.worker = address.value().to_string();
  if (!plan) {
    facts.wrong = plan.status().message();
    return facts;
  }
  facts.level = name(plan.value().level);
  if (plan.value().level != secure::Level::kNone && facts.no_library.empty())
    look_at_worker(plan.value().known_workers, facts);
  return facts;
}

std::vector<std::string> describe(const KeyFacts& facts) {
  std::vector<std::string> lines;
  if (!facts.no_library.empty()) lines.push_back("OpenSSL  no    " + facts.no_library);
  if (facts.fingerprint.empty())
    lines.push_back(fmt::format("key      no    {}", facts.no_key.empty() ? "none" : facts.no_key));
  else
    lines.push_back(fmt::format("key      yes   {}  {}", facts.fingerprint, facts.key_file));
  if (!facts.wrong.empty())
    lines.push_back(fmt::format("worker   no    {}", facts.wrong));
  else if (!facts.worker.empty())
    lines.push_back(fmt::format("worker   {}: level {}{}", facts.worker, facts.level,
                                facts.level == "none"        ? ""
                                : facts.worker_print.empty() ? ", never met"
                                                             : ", known as " + facts.worker_print));
  return lines;
}

std::string to_json(const KeyFacts& facts) {
  return JsonObject()
      .add("library_why_not", facts.no_library)
      .add("key_file", facts.key_file)
      .add("fingerprint", facts.fingerprint)
      .add("why_not", facts.no_key)
      .add("worker", facts.worker)
      .add("level", facts.level)
      .add("worker_fingerprint", facts.worker_print)
      .add("wrong", facts.wrong)
      .text();
}

}  // namespace tf::tools
