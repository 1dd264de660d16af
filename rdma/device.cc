// SPDX-License-Identifier: Apache-2.0
// Opens the device that the options name, and finds its limits and path.
#include "rdma/device.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <utility>
#include <vector>

namespace tf::rdma {
namespace {

constexpr const char* kDeviceVariable = "TF_RDMA_DEVICE";
constexpr const char* kGidVariable = "TF_RDMA_GID_INDEX";

std::string environment(const char* name) {
  const char* const text = std::getenv(name);
  return text == nullptr ? std::string() : std::string(text);
}

template <typename Number>
std::optional<Number> parse_number(const std::string& text) {
  Number number = 0;
  const char* const behind = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), behind, number);
  return error == std::errc() && end == behind ? std::optional(number) : std::nullopt;
}

Status refuse(const char* variable, const std::string& text, const char* possible) {
  return {Code::kInvalidArgument,
          std::string(variable) + "=\"" + text.substr(0, 64) + "\" is not " + possible};
}

// --- Which GID -------------------------------------------------------------------------------------------

bool is_ipv4(const ibv_gid& gid) {
  static constexpr std::uint8_t kMapped[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
  return std::memcmp(gid.raw, kMapped, sizeof(kMapped)) == 0;
}

bool is_link_local(const ibv_gid& gid) { return gid.raw[0] == 0xfe && (gid.raw[1] & 0xc0) == 0x80; }

// Lower is better. RoCE v2 is routed as UDP; v1 reaches only the local segment.
int rank(const Gid& gid) {
  if (gid.type != IBV_GID_TYPE_ROCE_V2) return 3;
  if (is_ipv4(gid.gid)) return 0;
  return is_link_local(gid.gid) ? 2 : 1;
}

Result<Gid> choose_gid(const Port& port, const DeviceOptions& options) {
  if (options.gid_index) {
    for (const Gid& gid : port.gids)
      if (gid.index == *options.gid_index) return gid;
    return Status(Code::kInvalidArgument,
                  std::string(kGidVariable) + ": there is no GID " + std::to_string(*options.gid_index));
  }
  if (port.gids.empty()) {
    if (port.is_ethernet())
      return Status(Code::kUnavailable, "the port has no GID: give its interface an address");
    return Gid{};
  }
  if (!port.is_ethernet()) return port.gids.front();
  return *std::min_element(port.gids.begin(), port.gids.end(),
                           [](const Gid& a, const Gid& b) { return rank(a) < rank(b); });
}

// --- Which port and device -------------------------------------------------------------------------------

Result<Path> choose_path(const Port& port, const DeviceOptions& options) {
  if (!port.is_active())
    return Status(Code::kUnavailable, "port " + std::to_string(port.number) + " is not active");
  const Result<Gid> gid = choose_gid(port, options);
  if (!gid) return gid.status();
  Path path;
  path.port = port.number;
  path.lid = port.is_ethernet() ? std::uint16_t{0} : port.attributes.lid;
  path.mtu = port.attributes.active_mtu;
  path.gid = gid.value();
  path.is_global = port.is_ethernet() || options.gid_index.has_value();
  return path;
}

Result<Path> choose_path(const DeviceFacts& device, const DeviceOptions& options) {
  if (!device.failure.is_ok()) return device.failure;
  if (device.transport_type != IBV_TRANSPORT_IB)
    return Status(Code::kUnavailable, "it is neither InfiniBand nor RoCE");
  if (options.port > device.ports.size())
    return Status(Code::kInvalidArgument,
                  std::string(kDeviceVariable) + ": there is no port " + std::to_string(options.port));
  Status first(Code::kUnavailable, "it has no ports");
  bool failed = false;
  for (const Port& port : device.ports) {
    if (options.port != 0 && port.number != options.port) continue;
    Result<Path> path = choose_path(port, options);
    if (path.is_ok()) return path;
    if (!std::exchange(failed, true)) first = path.status();
  }
  return first;
}

std::string list_all(const std::vector<OpenDevice>& devices) {
  if (devices.empty()) return "; there are no RDMA devices";
  std::string text = "; devices here:";
  for (const OpenDevice& device : devices) text += "\n  " + describe(device.facts);
  return text;
}

struct Choice {
  std::size_t device = 0;
  Path path;
};

Result<Choice> choose(const std::vector<OpenDevice>& devices, const DeviceOptions& options) {
  Status why(Code::kUnavailable, "no RDMA device can be used");
  for (std::size_t i = 0; i < devices.size(); ++i) {
    const DeviceFacts& facts = devices[i].facts;
    if (!options.name.empty() && facts.name != options.name) continue;
    const Result<Path> path = choose_path(facts, options);
    if (path.is_ok()) return Choice{i, path.value()};
    if (!options.name.empty())
      return Status(path.code(),
                    facts.name + " cannot be used: " + path.status().message() + list_all(devices));
    if (path.code() == Code::kInvalidArgument) why = path.status();
  }
  if (!options.name.empty())
    why = Status(Code::kInvalidArgument, std::string(kDeviceVariable) + ": there is no device \"" +
                                             options.name.substr(0, 64) + "\"");
  return Status(why.code(), why.message() + list_all(devices));
}

std::uint8_t reads(int value) { return static_cast<std::uint8_t>(std::clamp(value, 0, 255)); }

DeviceLimits read_limits(const DeviceFacts& facts, const Path& path) {
  const ibv_device_attr& device = facts.attributes.orig_attr;
  const ibv_odp_caps& paging = facts.attributes.odp_caps;
  constexpr std::uint32_t kNeeded = IBV_ODP_SUPPORT_WRITE | IBV_ODP_SUPPORT_READ;
  DeviceLimits limits;
  limits.reads_asked = reads(device.max_qp_init_rd_atom);
  limits.reads_answered = reads(device.max_qp_rd_atom);
  limits.message_bytes = facts.ports[path.port - 1u].attributes.max_msg_sz;
  limits.on_demand = (paging.general_caps & IBV_ODP_SUPPORT) != 0 &&
                     (paging.per_transport_caps.rc_odp_caps & kNeeded) == kNeeded;
  return limits;
}

}  // namespace

// --- Options ---------------------------------------------------------------------------------------------

Result<DeviceOptions> parse_device_options(const std::string& device, const std::string& gid_index) {
  DeviceOptions options;
  const std::size_t colon = device.find(':');
  options.name = device.substr(0, colon);
  if (colon != std::string::npos) {
    const auto port = parse_number<std::uint8_t>(device.substr(colon + 1));
    if (!port || *port == 0 || options.name.empty())
      return refuse(kDeviceVariable, device, "NAME or NAME:PORT, with ports from 1");
    options.port = *port;
  }
  if (!gid_index.empty()) {
    options.gid_index = parse_number<std::uint32_t>(gid_index);
    if (!options.gid_index || *options.gid_index >= kGidsMax)
      return refuse(kGidVariable, gid_index, "a number from 0 to 255");
  }
  return options;
}

Result<DeviceOptions> device_options_from_environment() {
  return parse_device_options(environment(kDeviceVariable), environment(kGidVariable));
}

// --- Device ----------------------------------------------------------------------------------------------

Device::Device(const Verbs& verbs, OpenDevice device, const Path& path)
    : verbs_(verbs),
      facts_(std::move(device.facts)),
      context_(std::move(device.context)),
      path_(path),
      limits_(read_limits(facts_, path_)) {}

Device::~Device() {
  if (pd_ != nullptr) verbs_.dealloc_pd(pd_);
}

Result<std::unique_ptr<Device>> Device::open(const Verbs& verbs, const DeviceOptions& options) {
  Result<std::vector<OpenDevice>> devices = open_devices(verbs);
  if (!devices) return devices.status();
  const Result<Choice> choice = choose(devices.value(), options);
  if (!choice) return choice.status();
  OpenDevice& chosen = devices.value()[choice.value().device];
  std::unique_ptr<Device> device(new Device(verbs, std::move(chosen), choice.value().path));
  TF_RETURN_IF_ERROR(device->prepare());
  return device;
}

Status Device::prepare() {
  errno = 0;
  pd_ = verbs_.alloc_pd(context_.get());
  if (pd_ == nullptr)
    return Status::from_errno(name() + " gives no protection domain", errno == 0 ? EIO : errno);
  return find_inline_limit();
}

// No device reports it: queue pairs that ask for too much are refused.
Status Device::find_inline_limit() {
  ibv_cq* const cq = verbs_.create_cq(context(), 1, nullptr, nullptr, 0);
  if (cq == nullptr) return Status::from_errno(name() + " gives no completion queue", errno);
  ibv_qp* qp = nullptr;
  int error = 0;
  for (std::uint32_t wanted = kInlineWanted;; wanted /= 2) {
    ibv_qp_init_attr init{};
    init.send_cq = init.recv_cq = cq;
    init.qp_type = IBV_QPT_RC;
    init.cap.max_send_wr = init.cap.max_recv_wr = 1;
    init.cap.max_send_sge = init.cap.max_recv_sge = kPiecesPerRequest;
    init.cap.max_inline_data = wanted;
    qp = verbs_.create_qp(pd_, &init);
    limits_.inline_bytes = wanted;
    error = errno;
    if (qp != nullptr || wanted == 0) break;
  }
  if (qp != nullptr) verbs_.destroy_qp(qp);
  verbs_.destroy_cq(cq);
  if (qp != nullptr) return Status::ok();
  return Status::from_errno(name() + " gives no reliable queue pair", error);
}

std::string Device::describe() const {
  return name() + ", port " + std::to_string(path_.port) + ", " + rdma::describe(path_.gid);
}

}  // namespace tf::rdma
