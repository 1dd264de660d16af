// SPDX-License-Identifier: Apache-2.0
// Asks the worker.
#include "smi/client/remote.h"

#include <algorithm>
#include <array>
#include <utility>

#include "proxy/base/log.h"
#include "proxy/session/device_view.h"
#include "proxy/session/find_worker.h"

namespace tf::smi {
namespace {

proxy::Connection::Devices devices_of(const std::vector<int>& seen) {
  proxy::Connection::Devices devices;
  for (const int ordinal : seen) devices.ordinals[static_cast<std::size_t>(devices.count++)] = ordinal;
  return devices;
}

Status status_of(hipError_t error) {
  switch (error) {
    case hipSuccess: return Status::ok();
    case hipErrorInvalidDevice: return {Code::kInvalidArgument, "there is no such device"};
    case hipErrorNotSupported: return {Code::kUnsupported, "the worker does not know this request"};
    case proxy::kLostError: return {Code::kPeerLost, "the connection to the worker is lost"};
    default:
      return {Code::kInternal, "the worker answers with error " + std::to_string(static_cast<int>(error))};
  }
}

Status no_device() { return status_of(hipErrorInvalidDevice); }

}  // namespace

Remote::Remote(proxy::Connected&& connected, const std::vector<int>& seen, std::string worker)
    : worker_(std::move(worker)),
      connection_(std::move(connected.endpoint), std::move(connected.control), devices_of(seen), *this) {}

Remote::~Remote() {
  connection_.goodbye();
  connection_.close();
}

Result<std::unique_ptr<Remote>> Remote::connect(proxy::Settings settings) {
  TF_RETURN_IF_ERROR(proxy::find_worker(settings));
  Result<proxy::Connected> connected = proxy::connect(settings);
  if (!connected) return connected.status();
  const std::vector<int> seen =
      proxy::seen_devices(connected->snapshot, connected->only_device, connected->visible);
  return std::unique_ptr<Remote>(new Remote(std::move(*connected), seen, settings.worker));
}

Result<std::unique_ptr<Remote>> Remote::connect() {
  Result<proxy::Settings> settings = proxy::read_settings();
  if (settings) proxy::set_debug(settings->debug);
  return settings ? connect(std::move(*settings)) : Result<std::unique_ptr<Remote>>(settings.status());
}

template <typename Request, typename Reply>
Status Remote::ask(const Request& request, Reply& reply) {
  return status_of(connection_.call(0, request, reply));
}

Status Remote::describe(int device, Facts& facts) {
  if (!has(device)) return no_device();
  protocol::SmiDescribeRequest request;
  request.device = static_cast<std::uint32_t>(connection_.worker_ordinal(device));
  return ask(request, facts);
}

Status Remote::sample(int device, Sample& sample) {
  if (!has(device)) return no_device();
  protocol::SmiSampleRequest request;
  request.device = static_cast<std::uint32_t>(connection_.worker_ordinal(device));
  return ask(request, sample);
}

Status Remote::find_link(int from, int to, Link& link) {
  if (!has(from) || !has(to)) return no_device();
  protocol::SmiFindLinkRequest request;
  request.from = static_cast<std::uint32_t>(connection_.worker_ordinal(from));
  request.to = static_cast<std::uint32_t>(connection_.worker_ordinal(to));
  return ask(request, link);
}

Result<std::vector<Session>> Remote::sessions() {
  std::vector<Session> found;
  for (protocol::SmiFindSessionRequest request; request.index < kSessionsMax; ++request.index) {
    Session session;
    TF_RETURN_IF_ERROR(ask(request, session));
    if (session.known == 0) break;
    std::array<std::uint64_t, std::size(decltype(session.memory_bytes){})> ours{};
    for (int device = 0; device < device_count(); ++device)
      ours[static_cast<std::size_t>(device)] = session.memory_bytes[connection_.worker_ordinal(device)];
    std::ranges::copy(ours, session.memory_bytes);
    found.push_back(session);
  }
  return found;
}

}  // namespace tf::smi
