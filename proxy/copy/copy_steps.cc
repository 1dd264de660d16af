// SPDX-License-Identifier: Apache-2.0
#include "proxy/copy/copy_steps.h"

#include "proxy/stats/counting.h"

namespace tf::proxy {

hipError_t synchronize(Session& session, const CopyMode& mode) {
  return session.synchronize_stream(mode.device, mode.stream);
}

hipError_t await_stream(Session& session, const CopyMode& mode) {
  if (session.pending_work().quiet() || !session.staging().ready()) return synchronize(session, mode);
  return session.synchronize_stream(mode.device, mode.stream, [&] {
    hipError_t error = hipSuccess;
    if (session.staging().wait(mode, error) == Staging::Outcome::kDone) return error;
    protocol::SynchronizeStreamRequest request{};
    request.stream = mode.stream;
    return session.call(mode.device, request);
  });
}

hipError_t settle(Session& session, const CopyMode& mode, hipError_t posted) {
  if (posted != hipSuccess || !mode.wait) return posted;
  if (mode.stream == 0 && !session.has_unordered_streams() && !session.is_sharing()) return hipSuccess;
  return synchronize(session, mode);
}

hipError_t settle_on_device(Session& session, const CopyMode& mode, std::uint64_t target,
                            std::uint64_t source, hipError_t posted) {
  const HostMemory& host = session.host_memory();
  const bool touches_host = host.reaches(target, 1) || host.reaches(source, 1);
  if (posted != hipSuccess || !mode.wait || !touches_host) return settle(session, mode, posted);
  return await_stream(session, mode);
}

void count_copy(Session& session, std::uint64_t target, std::uint64_t source, std::uint64_t bytes) {
  if (!stats::counting()) return;
  const bool to_device = session.device_memory().is_device(target);
  const bool from_device = session.device_memory().is_device(source);
  if (to_device && !from_device) stats::count_to_device(bytes);
  if (from_device && !to_device) stats::count_from_device(bytes);
}

Graphs::Verdict offer(Session& session, const CopyMode& mode, const Box& box, hipMemcpyKind kind) {
  return session.graphs().capturing() ? session.graphs().offer_copy(mode, box, kind) : std::nullopt;
}

}  // namespace tf::proxy
