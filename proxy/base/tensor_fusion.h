// SPDX-License-Identifier: Apache-2.0
// The worker that TensorFusion's operator has chosen for a pod.
//
// The operator names it in the pod's environment: by a connection string, or by the address of a service that
// answers with one as soon as the worker runs. Forms as TensorFusion's sources have them (internal/utils and
// the connection router of its operator, 2026): PROTOCOL+HOST+PORT[+...] and shmem+NAME[+...].
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <string_view>

#include "proxy/base/environment.h"
#include "transport/base/deadline.h"
#include "transport/base/status.h"

namespace tf::proxy {

// The operator answers within five minutes, with a worker or with 504.
inline constexpr std::chrono::seconds kOperatorPatience{330};

// The worker's address as net::Address::parse takes it. kInvalidArgument says which forms there are.
Result<std::string> parse_tensor_fusion_connection(std::string_view text);

// Where the worker's Unix socket lies for the connection shmem+NAME: in the memory that both containers have.
std::string shared_memory_socket(std::string_view name);

// If the settings name a service to ask and no worker: asks it, and the settings name the worker afterwards.
// `token_file`: of the pod's service account; without that file no token is sent. Asks again while the
// service has no worker yet (503, 504), and for half a minute if it does not listen. Blocks until `deadline`;
// `on_slow` is called once if it takes seconds. Its other answers are errors that say what it answered.
Status ask_tensor_fusion(Settings& settings, const std::string& token_file, Deadline deadline,
                         const std::function<void()>& on_slow = {});

// Where Kubernetes puts the token of a pod's service account.
inline constexpr const char* kServiceAccountToken = "/var/run/secrets/kubernetes.io/serviceaccount/token";

}  // namespace tf::proxy
