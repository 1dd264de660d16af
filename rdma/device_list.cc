// SPDX-License-Identifier: Apache-2.0
// Lists RDMA devices with their ports and GIDs, and describes them.
#include "rdma/device_list.h"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "transport/net/standard_descriptors.h"

namespace tf::rdma {
namespace {

const char* state_name(ibv_port_state state) {
  switch (state) {
    case IBV_PORT_DOWN: return "down";
    case IBV_PORT_INIT: return "initializing (no subnet manager?)";
    case IBV_PORT_ARMED: return "armed";
    case IBV_PORT_ACTIVE: return "active";
    default: return "in an unknown state";
  }
}

const char* link_name(std::uint8_t link_layer) {
  switch (link_layer) {
    case IBV_LINK_LAYER_ETHERNET: return "Ethernet";
    case IBV_LINK_LAYER_INFINIBAND: return "InfiniBand";
    default: return "unknown link";
  }
}

const char* type_name(ibv_gid_type type) {
  switch (type) {
    case IBV_GID_TYPE_ROCE_V1: return "RoCE v1";
    case IBV_GID_TYPE_ROCE_V2: return "RoCE v2";
    default: return "InfiniBand";
  }
}

bool is_empty(const ibv_gid& gid) {
  return std::all_of(std::begin(gid.raw), std::end(gid.raw), [](std::uint8_t byte) { return byte == 0; });
}

std::vector<Gid> read_gids(const Verbs& verbs, ibv_context* context, const Port& port) {
  std::vector<Gid> gids;
  const auto count = static_cast<std::uint32_t>(std::max(port.attributes.gid_tbl_len, 0));
  for (std::uint32_t index = 0; index < std::min(count, kGidsMax); ++index) {
    ibv_gid_entry entry{};
    if (verbs.query_gid_ex(context, port.number, index, &entry) != 0 || is_empty(entry.gid)) continue;
    gids.push_back({index, entry.gid, static_cast<ibv_gid_type>(entry.gid_type)});
  }
  return gids;
}

Status read_facts(const Verbs& verbs, ibv_context* context, DeviceFacts& facts) {
  if (const int error = verbs.query_device_ex(context, &facts.attributes); error != 0)
    return Status::from_errno(facts.name + " does not report its limits", error);
  for (unsigned number = 1; number <= facts.attributes.orig_attr.phys_port_cnt; ++number) {
    Port port;
    port.number = static_cast<std::uint8_t>(number);
    if (const int error = verbs.query_port(context, port.number, &port.attributes); error != 0)
      return Status::from_errno(facts.name + " does not report the state of port " + std::to_string(number),
                                error);
    port.gids = read_gids(verbs, context, port);
    facts.ports.push_back(std::move(port));
  }
  return Status::ok();
}

OpenDevice open_one(const Verbs& verbs, ibv_device* device) {
  OpenDevice result;
  result.facts.name = verbs.get_device_name(device);
  result.facts.transport_type = device->transport_type;
  result.facts.is_software = is_software_device(device->ibdev_path);
  const net::StandardDescriptorsTaken taken;
  errno = 0;
  result.context = ContextPtr(verbs.open_device(device), CloseContext{&verbs});
  if (result.context == nullptr) {
    const int error = errno == 0 ? EIO : errno;  // not every driver says why
    result.facts.failure = Status::from_errno(
        result.facts.name + " cannot be opened (/dev/infiniband/" + device->dev_name + ")", error);
    return result;
  }
  result.facts.failure = read_facts(verbs, result.context.get(), result.facts);
  if (!result.facts.failure.is_ok()) result.context.reset();
  return result;
}

}  // namespace

bool is_software_device(const char* path) {
  const std::unique_ptr<char, decltype(&std::free)> place(::realpath(path, nullptr), &std::free);
  return place != nullptr && std::strstr(place.get(), "/devices/virtual/") != nullptr;
}

Result<std::vector<OpenDevice>> open_devices(const Verbs& verbs) {
  int count = 0;
  errno = 0;
  ibv_device** const list = verbs.get_device_list(&count);
  if (list == nullptr) {
    if (errno == ENOSYS || errno == 0)
      return Status(Code::kUnavailable, "the kernel offers no RDMA (is ib_uverbs loaded?)");
    return Status(Code::kUnavailable, Status::from_errno("no list of RDMA devices", errno).message());
  }
  std::vector<OpenDevice> devices;
  for (int i = 0; i < count; ++i) devices.push_back(open_one(verbs, list[i]));
  verbs.free_device_list(list);
  return devices;
}

std::size_t mtu_bytes(ibv_mtu mtu) { return std::size_t{128} << std::clamp<unsigned>(mtu, 1, 5); }

std::string describe(const Gid& gid) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  ::inet_ntop(AF_INET6, gid.gid.raw, text.data(), text.size());
  return "GID " + std::to_string(gid.index) + " " + text.data() + " (" + type_name(gid.type) + ")";
}

std::string describe(const Port& port) {
  std::string text = "port " + std::to_string(port.number) + " " + state_name(port.attributes.state) + ", " +
                     link_name(port.attributes.link_layer) + ", MTU " +
                     std::to_string(mtu_bytes(port.attributes.active_mtu));
  if (!port.is_ethernet()) text += ", LID " + std::to_string(port.attributes.lid);
  const char* separator = "; ";
  for (const Gid& gid : port.gids) text += std::exchange(separator, ", ") + describe(gid);
  return port.gids.empty() ? text + "; no GIDs" : text;
}

std::string describe(const DeviceFacts& device) {
  if (!device.failure.is_ok()) return device.failure.message();
  if (device.transport_type != IBV_TRANSPORT_IB)
    return device.name + ": neither InfiniBand nor RoCE, cannot write with immediate data";
  std::string text = device.name + (device.is_software ? " (software): " : ": ");
  const char* separator = "";
  for (const Port& port : device.ports) text += std::exchange(separator, " | ") + describe(port);
  return device.ports.empty() ? text + "no ports" : text;
}

std::vector<std::string> describe_devices(const Verbs& verbs) {
  const Result<std::vector<OpenDevice>> devices = open_devices(verbs);
  if (!devices) return {devices.status().message()};
  std::vector<std::string> lines;
  for (const OpenDevice& device : devices.value()) lines.push_back(describe(device.facts));
  if (lines.empty()) lines.emplace_back("no RDMA devices");
  return lines;
}

}  // namespace tf::rdma
