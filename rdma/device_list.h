// SPDX-License-Identifier: Apache-2.0
// The RDMA devices of this machine, with their ports and GIDs. Read once; plain values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "rdma/verbs.h"
#include "transport/base/status.h"

namespace tf::rdma {

// Entries of a port's GID table beyond this are ignored: a queue pair names its own in 8 bits.
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
  bool is_software = false;  // in the kernel (rxe, siw): the posting processor sends
  ibv_device_attr_ex attributes{};
  std::vector<Port> ports;
  Status failure;  // why it could not be opened or queried; then only name and type are set
};

struct CloseContext {
  const Verbs* verbs = nullptr;
  void operator()(ibv_context* context) const { verbs->close_device(context); }
};
using ContextPtr = std::unique_ptr<ibv_context, CloseContext>;

// An open device, or facts.failure and no context.
struct OpenDevice {
  DeviceFacts facts;
  ContextPtr context;
};

// Opens all devices. Destroy the contexts that are not needed, which closes them. kUnavailable: this kernel
// has no verbs. An empty list is not a failure. Any thread.
Result<std::vector<OpenDevice>> open_devices(const Verbs& verbs);

// Whether the device is made of software. `path`: its place in sysfs (ibv_device::ibdev_path), which differs
// for devices without hardware.
bool is_software_device(const char* path);

// One line each, for people: "fake0: port 1 active, Ethernet, MTU 4096; GID 2 ::ffff:10.9.0.1 (RoCE v2),
// ...".
std::string describe(const DeviceFacts& device);
std::string describe(const Port& port);
std::string describe(const Gid& gid);
// For `hip-remote info`: a line per device, or one line that says why there is none.
std::vector<std::string> describe_devices(const Verbs& verbs);

// Bytes of one packet.
std::size_t mtu_bytes(ibv_mtu mtu);

}  // namespace tf::rdma
