// SPDX-License-Identifier: Apache-2.0
// Asks the operator for a worker, or the transports which one can be reached.
#include "proxy/session/find_worker.h"

#include "proxy/base/log.h"
#include "proxy/base/own_worker.h"
#include "proxy/base/tensor_fusion.h"
#include "transport/factory/factory.h"

namespace tf::proxy {

Status find_worker(Settings& settings) {
  TF_RETURN_IF_ERROR(
      ask_tensor_fusion(settings, kServiceAccountToken, Deadline::after(kOperatorPatience), [&settings] {
        log_line("waiting for a worker of TensorFusion's operator (" + settings.operator_url + ")");
      }));
  find_own_worker(settings, [&settings](const net::Address& address) {
    return choose(settings.transport, address).is_ok();
  });
  return Status::ok();
}

}  // namespace tf::proxy
