// SPDX-License-Identifier: Apache-2.0
// Faulty: an endpoint that breaks on purpose. Decorates any endpoint; same threads as the one inside.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>

#include "transport/endpoint.h"

namespace tf::test {

struct Faults {
  static constexpr std::uint64_t kNever = UINT64_MAX;
  // After so many bytes published (messages) or moved (bulk, either way) the endpoint fails with kPeerLost.
  std::uint64_t cut_after_message_bytes = kNever;
  std::uint64_t cut_after_bulk_bytes = kNever;
  // Runs once, just before a cut: kills the peer process, for instance.
  std::function<void()> at_cut;
  // Every publish and every delivery is late by up to this much, from a fixed sequence.
  std::chrono::microseconds delay_max{0};
};

std::unique_ptr<Endpoint> make_faulty(std::unique_ptr<Endpoint> inner, Faults faults);

}  // namespace tf::test
