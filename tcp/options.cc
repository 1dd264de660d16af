// SPDX-License-Identifier: Apache-2.0
// Parses the environment variables of the tcp transport.
#include "tcp/options.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <string>

#include "tcp/congestion.h"
#include "transport/base/processor.h"
#include "transport/net/io_timeout.h"

namespace tf::tcp {
namespace {

// One for the lane's thread, one for the program or the device, one to help.
constexpr unsigned kProcessorsForHelp = 3;
constexpr unsigned kLanesWithHelpMax = 4;
constexpr unsigned kThreadsOfHelpedLane = 4;  // of both ends

constexpr std::uint32_t kRecoverableBit = 32;  // below the limit of transport/net/attach.cc

std::string_view environment(const char* name) {
  const char* text = std::getenv(name);
  return text == nullptr ? std::string_view() : std::string_view(text);
}

Status refuse(std::string_view variable, std::string_view text, std::string_view possible) {
  return {Code::kInvalidArgument, std::string(variable) + "=\"" + std::string(text.substr(0, 64)) +
                                      "\" is not one of: " + std::string(possible)};
}

Result<unsigned> parse_number(std::string_view variable, std::string_view text, unsigned least,
                              unsigned most) {
  unsigned number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc() && end == text.data() + text.size() && number >= least && number <= most)
    return number;
  return refuse(variable, text, std::to_string(least) + " to " + std::to_string(most));
}

}  // namespace

Result<EngineKind> parse_engine(std::string_view text) {
  if (text.empty() || text == "auto") return EngineKind::kAuto;
  if (text == "uring" || text == "io_uring") return EngineKind::kUring;
  if (text == "poll") return EngineKind::kPoll;
  return refuse("TF_TCP_ENGINE", text, "auto, uring, poll");
}

Result<UringFeatures> parse_features(std::string_view text) {
  UringFeatures features{.multishot_receive = false, .zero_copy_send = false, .registered_files = false};
  while (!text.empty()) {
    const std::size_t comma = text.find(',');
    const std::string_view word = text.substr(0, comma);
    text.remove_prefix(comma == std::string_view::npos ? text.size() : comma + 1);
    if (word == "multishot") {
      features.multishot_receive = true;
    } else if (word == "send_zc") {
      features.zero_copy_send = true;
    } else if (word == "files") {
      features.registered_files = true;
    } else if (word != "none") {
      return refuse("TF_TCP_FEATURES", word, "multishot, send_zc, files, none");
    }
  }
  return features;
}

Result<std::optional<unsigned>> parse_crypto_helpers(std::string_view text) {
  if (text.empty()) return std::optional<unsigned>();
  const Result<unsigned> helpers = parse_number("TF_TCP_CRYPTO_THREADS", text, 0, kCryptoHelpersMax);
  if (!helpers) return helpers.status();
  return std::optional<unsigned>(helpers.value());
}

Result<unsigned> parse_payload_lanes(std::string_view text) {
  if (text.empty()) return default_payload_lanes();
  return parse_number("TF_TCP_LANES", text, 1, kPayloadLanesMax);
}

unsigned default_payload_lanes() { return std::clamp(usable_processors() * 3 / 8, 1U, kPayloadLanesMax); }

unsigned default_crypto_helpers(unsigned payload_lanes, unsigned processors) {
  if (payload_lanes <= 1) return processors >= kProcessorsForHelp ? 1 : 0;
  return payload_lanes <= kLanesWithHelpMax && processors >= kThreadsOfHelpedLane * payload_lanes ? 1 : 0;
}

std::uint32_t Layout::to_attach() const { return connections() | (recoverable ? kRecoverableBit : 0); }

Result<Layout> Layout::from_attach(std::uint32_t lanes) {
  Layout layout{.recoverable = (lanes & kRecoverableBit) != 0};
  const std::uint32_t connections = lanes & ~kRecoverableBit;
  const std::uint32_t others = kConnectionsMin + (layout.recoverable ? 1 : 0);
  if (connections > others && connections <= others + kPayloadLanesMax)
    layout.payload_lanes = connections - others;
  const std::uint32_t same = layout.connections();
  if (connections == same || (connections == 0 && !layout.recoverable)) return layout;
  return Status(Code::kProtocol,
                "tcp: an endpoint of " + std::to_string(connections) + " lanes is not possible");
}

Result<std::vector<net::Address>> parse_rails(std::string_view text) {
  constexpr std::string_view kPossible =
      "up to 8 hosts of the worker, with or without a port, separated by commas";
  std::vector<net::Address> rails;
  std::string_view rest = text;
  while (!rest.empty()) {
    const std::size_t comma = std::min(rest.find(','), rest.size());
    const std::string_view word = rest.substr(0, comma);
    rest.remove_prefix(std::min(comma + 1, rest.size()));
    Result<net::Address> address = net::Address::parse(word);
    if (!address || address->is_unix() || rails.size() == kPayloadLanesMax)
      return refuse("TF_TCP_RAILS", text, kPossible);
    const bool has_port = word != address->host() && word != "[" + address->host() + "]";
    rails.push_back(has_port ? *address : net::Address::tcp(address->host(), 0));
  }
  return rails;
}

Result<Options> options_from_environment() {
  Options options;
  Result<EngineKind> engine = parse_engine(environment("TF_TCP_ENGINE"));
  if (!engine) return engine.status();
  options.engine = *engine;
  if (const std::string_view text = environment("TF_TCP_FEATURES"); !text.empty()) {
    Result<UringFeatures> features = parse_features(text);
    if (!features) return features.status();
    options.features = *features;
  }
  const Result<std::optional<unsigned>> helpers = parse_crypto_helpers(environment("TF_TCP_CRYPTO_THREADS"));
  if (!helpers) return helpers.status();
  options.crypto_helpers = helpers.value();
  const Result<unsigned> lanes = parse_payload_lanes(environment("TF_TCP_LANES"));
  if (!lanes) return lanes.status();
  options.payload_lanes = lanes.value();
  Result<std::vector<net::Address>> rails = parse_rails(environment("TF_TCP_RAILS"));
  if (!rails) return rails.status();
  options.rails = std::move(*rails);
  options.recoverable = !options.rails.empty();
  options.payload_lanes = std::max(options.payload_lanes, static_cast<unsigned>(options.rails.size()));
  Result<std::string> congestion = parse_congestion(environment("TF_TCP_CONGESTION"));
  if (!congestion) return congestion.status();
  options.congestion = std::move(*congestion);
  const Result<std::chrono::seconds> timeout = net::io_timeout_from_environment();
  if (!timeout) return timeout.status();
  options.peer_timeout = timeout.value();
  return options;
}

}  // namespace tf::tcp
