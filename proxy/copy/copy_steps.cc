// SPDX-License-Identifier: Apache-2.0
#include "proxy/copy/copy_steps.h"

#include "proxy/stats/counting.h"

namespace tf::proxy {

hipError_t synchronize(Connection& connection, const CopyMode& mode) {
  return connection.synchronize_stream(mode.device, mode.stream);
}

hipError_t await_stream(CopyEngine& engine, const CopyMode& mode) {
  Connection& connection = engine.connection();
  if (engine.streams().pending_work().quiet() || !engine.staging().ready())
    return synchronize(connection, mode);
  return connection.synchronize_stream(mode.device, mode.stream, [&] {
    hipError_t error = hipSuccess;
    if (engine.staging().wait(mode, error) == Staging::Outcome::kDone) return error;
    protocol::SynchronizeStreamRequest request{};
    request.stream = mode.stream;
    return connection.call(mode.device, request);
  });
}

hipError_t settle(Connection& connection, const CopyMode& mode, hipError_t posted) {
  if (posted != hipSuccess || !mode.wait) return posted;
  if (mode.stream == 0 && !connection.streams().has_unordered() && !connection.is_sharing())
    return hipSuccess;
  return synchronize(connection, mode);
}

hipError_t settle_on_device(CopyEngine& engine, const CopyMode& mode, std::uint64_t target,
                            std::uint64_t source, hipError_t posted) {
  const HostMemory& host = engine.host_memory();
  const bool touches_host = host.reaches(target, 1) || host.reaches(source, 1);
  if (posted != hipSuccess || !mode.wait || !touches_host) return settle(engine.connection(), mode, posted);
  return await_stream(engine, mode);
}

void count_copy(CopyEngine& engine, std::uint64_t target, std::uint64_t source, std::uint64_t bytes) {
  if (!stats::counting()) return;
  const bool to_device = engine.device_memory().is_device(target);
  const bool from_device = engine.device_memory().is_device(source);
  if (to_device && !from_device) stats::count_to_device(bytes);
  if (from_device && !to_device) stats::count_from_device(bytes);
}

std::optional<hipError_t> offer(CopyEngine& engine, const CopyMode& mode, const Box& box,
                                hipMemcpyKind kind) {
  return engine.connection().is_capturing() ? engine.capture().offer_copy(mode, box, kind) : std::nullopt;
}

}  // namespace tf::proxy
