// SPDX-License-Identifier: Apache-2.0
// Device: an open RDMA device with the port and GID that queue pairs use, and a protection domain.
//
// Immutable once open: any thread. Destroy everything made from context() and pd() before it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "rdma/device_list.h"
#include "rdma/verbs.h"
#include "transport/base/status.h"

namespace tf::rdma {

// The inline bytes that Device::open() asks for, and the pieces per request for which it asks.
inline constexpr std::uint32_t kInlineWanted = 256;
inline constexpr std::uint32_t kPiecesPerRequest = 2;

struct DeviceOptions {
  std::string name;       // empty: the first usable one
  std::uint8_t port = 0;  // 0: the first active one
  std::optional<std::uint32_t> gid_index{};
};

// From TF_RDMA_DEVICE (NAME or NAME:PORT) and TF_RDMA_GID_INDEX. Other text is kInvalidArgument.
Result<DeviceOptions> device_options_from_environment();
Result<DeviceOptions> parse_device_options(const std::string& device, const std::string& gid_index);

struct DeviceLimits {
  std::uint32_t inline_bytes = 0;   // in one request of a queue pair with up to kPiecesPerRequest pieces
  std::uint8_t reads_asked = 0;     // READs in flight that we start (max_rd_atomic)
  std::uint8_t reads_answered = 0;  // and that we answer (max_dest_rd_atomic)
  std::uint64_t message_bytes = 0;  // of one request
  bool on_demand = false;           // memory may be registered without being pinned: READ and WRITE over RC
};

// How other ends reach this one.
struct Path {
  std::uint8_t port = 0;
  std::uint16_t lid = 0;  // 0 over Ethernet
  ibv_mtu mtu = IBV_MTU_1024;
  Gid gid;
  // Packets carry GIDs: always over Ethernet, and where a GID was asked for. Both ends must agree.
  bool is_global = false;
};

class Device {
 public:
  // Tries the devices in the order of the library's list. kUnavailable lists the devices and says why none
  // can be used. kInvalidArgument: `options` name something that does not exist. `verbs` outlives the device.
  static Result<std::unique_ptr<Device>> open(const Verbs& verbs, const DeviceOptions& options);
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;
  ~Device();

  const Verbs& verbs() const { return verbs_; }
  const std::string& name() const { return facts_.name; }
  ibv_context* context() const { return context_.get(); }
  ibv_pd* pd() const { return pd_; }
  const DeviceLimits& limits() const { return limits_; }
  bool is_software() const { return facts_.is_software; }
  const Path& path() const { return path_; }
  // "fake0, port 1, GID 2 ::ffff:10.9.0.1 (RoCE v2)": for messages.
  std::string describe() const;

 private:
  Device(const Verbs& verbs, OpenDevice device, const Path& path);
  Status prepare();
  Status find_inline_limit();

  const Verbs& verbs_;
  DeviceFacts facts_;
  ContextPtr context_;
  Path path_;
  ibv_pd* pd_ = nullptr;
  DeviceLimits limits_;
};

}  // namespace tf::rdma
