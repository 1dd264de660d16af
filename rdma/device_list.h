// SPDX-License-Identifier: Apache-2.0
// What RDMA devices there are, with their ports and GIDs: read once, plain values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "rdma/verbs.h"
#include "transport/base/status.h"

namespace tf::rdma {

// More entries of a port's GID table are not looked at: a queue pair names its own in 8 bits.
inline constexpr std::uint32_t kGidsMax = 256;

struct Gid {
  std::uint32_t index = 0;
  ibv_gid gid{};
  ibv_gid_type type = IBV_GID_TYPE_IB;
};

struct Port {
  std::uint8_t number = 0;  // from 1
  ibv_port_attr attributes{};
  std::vector<Gid> gids;  // not the empty entries
  bool is_active() const { return attributes.state == IBV_PORT_ACTIVE; }
  bool is_ethernet() const { return attributes.link_layer == IBV_LINK_LAYER_ETHERNET; }
};

struct DeviceFacts {
  std::string name;
  ibv_transport_type transport_type = IBV_TRANSPORT_UNKNOWN;
  bool is_software = false;  // the kernel's own (rxe, siw): it sends from the processor that posts
  ibv_device_attr_ex attributes{};
  std::vector<Port> ports;
  Status failure;  // why it could not be opened or asked; then there is nothing but the name and the type
};

struct CloseContext {
  const Verbs* verbs = nullptr;
  void operator()(ibv_context* context) const { verbs->close_device(context); }
};
using ContextPtr = std::unique_ptr<ibv_context, CloseContext>;

// A device that is open, or facts.failure and no context.
struct OpenDevice {
  DeviceFacts facts;
  ContextPtr context;
};

// Opens all devices; close what is not needed by letting go of it. kUnavailable: this kernel has no verbs. An
// empty list is not a failure. Any thread.
Result<std::vector<OpenDevice>> open_devices(const Verbs& verbs);

// `path`: where the kernel shows a device (ibv_device::ibdev_path). It keeps those without hardware apart.
bool is_software_device(const char* path);

// One line each, for people: "fake0: port 1 active, Ethernet, MTU 4096; GID 2 ::ffff:10.9.0.1 (RoCE v2),
// ...".
std::string describe(const DeviceFacts& device);
std::string describe(const Port& port);
std::string describe(const Gid& gid);
// What `hip-remote info` says about this machine: a line for each device, or one that says why there is none.
std::vector<std::string> describe_devices(const Verbs& verbs);

// Bytes of one packet.
std::size_t mtu_bytes(ibv_mtu mtu);

}  // namespace tf::rdma
