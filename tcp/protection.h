// SPDX-License-Identifier: Apache-2.0
// What encrypts the lanes of one endpoint.
#pragma once

#include <array>
#include <memory>

#include "tcp/options.h"
#include "transport/secure/session.h"

namespace tf::tcp {

// The session that the lanes belong to. Without one they are clear, and so they are at the level "auth".
struct Protection {
  std::shared_ptr<const secure::Session> session = nullptr;
  secure::Side own = secure::Side::kClient;
  std::array<secure::Proof, kConnectionsMax> proofs{};  // by connection
};

}  // namespace tf::tcp
