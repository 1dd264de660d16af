// SPDX-License-Identifier: Apache-2.0
// How the parts of a client are put together, and what the connection's events mean to them.
#include "proxy/client/client.h"

#include <algorithm>
#include <string>
#include <utility>

#include "proxy/base/log.h"
#include "proxy/session/device_view.h"

namespace tf::proxy {

namespace {

Connection::Devices devices_of(const std::vector<int>& seen, const Connected& connected) {
  Connection::Devices devices;
  for (const int ordinal : seen) devices.ordinals[static_cast<std::size_t>(devices.count++)] = ordinal;
  devices.streams_limited = connected.streams_limited;
  return devices;
}

}  // namespace

Client::Client(Connected connected, unsigned copy_helpers)
    : Client(std::move(connected), seen_devices(connected.snapshot, connected.only_device, connected.visible),
             copy_helpers) {}

Client::Client(Connected&& connected, const std::vector<int>& seen, unsigned copy_helpers)
    : snapshot_(keep_devices(std::move(connected.snapshot), seen)),
      walls_(std::move(connected.walls)),
      share_(std::move(connected.share)),
      fine_grained_on_device_(connected.fine_grained == FineGrained::kDevice ||
                              (connected.fine_grained == FineGrained::kAuto && snapshot_.fine_grained != 0)),
      connection_(std::move(connected.endpoint), std::move(connected.control), devices_of(seen, connected),
                  *this),
      callbacks_(connection_, mirror_),
      leases_(connection_, snapshot_, lease_mappings_, huge_pages_, outside_windows_),
      device_memory_(snapshot_, leases_),
      arrays_(connection_, device_memory_),
      pools_(connection_.handles().of(protocol::HandleKind::kMemPool)),
      host_parts_(connection_, huge_pages_),
      host_window_(host_parts_),
      host_memory_(host_window_),
      mirror_(connection_, connected.watches_pages ? Mirror::Use::kIfItWorks : Mirror::Use::kNever),
      host_allocations_(connection_, host_memory_, mirror_, advice_),
      modules_(connection_, snapshot_, *this),
      copies_(connection_, callbacks_,
              {device_memory_, host_memory_, host_window_, lease_mappings_, huge_pages_}, copy_helpers),
      graphs_(snapshot_, copies_, modules_, arrays_.library(), *this) {
  map_leases(std::move(connected.files.leases), reserve_windows());
  map_host_window(connected.files.host_window.get(), connected.mirrors_pinned);
}

// Ends running transfers first: they refer to the parts' memory.
Client::~Client() {
  callbacks_.stop();
  connection_.close();
}

// False: a device's window could not be reserved.
bool Client::reserve_windows() {
  bool all = true;
  for (const protocol::DeviceSnapshot& device : snapshot_.devices) {
    if (device.window.bytes == 0) continue;
    Result<ReservedWindow> window = ReservedWindow::reserve(device.window.base, device.window.bytes);
    all = all && window && *window;
    if (window) {
      windows_.push_back(std::move(*window));
    } else {
      // Addresses inside live allocations still decide; only a stray pointer could be mistaken for the other
      // kind.
      log_debug("continuing without a reserved address window: " + window.status().to_string());
    }
  }
  if (snapshot_.reservations.bytes == 0 || snapshot_.devices.empty()) return all;
  // The program learns of these before anything uses them: no window, no virtual memory management.
  const protocol::AddressWindow& range = snapshot_.reservations;
  Result<ReservedWindow> window = ReservedWindow::reserve(range.base, range.bytes);
  if (!window) {
    log_debug("no virtual memory management: " + window.status().to_string());
    return all;
  }
  windows_.push_back(std::move(*window));
  std::uint64_t unit = 0;
  for (const protocol::DeviceSnapshot& device : snapshot_.devices)
    unit = std::max(unit, device.map_granularity_bytes);
  virtual_memory_.open(range, unit);
  return all;
}

void Client::map_leases(net::OwnedFd socket, bool reserved) {
  if (reserved) lease_mappings_.open(std::move(socket));
  if (!lease_mappings_.complete()) snapshot_.device_access = protocol::DeviceAccess::kNone;
  describe_device_access(snapshot_);
}

// The mapping outlives the descriptor.
void Client::map_host_window(int file, bool mirrors_pinned) {
  if (snapshot_.host_access != protocol::HostAccess::kNone) {
    const Status mapped = host_window_.map(snapshot_.host_window, snapshot_.host_access, file);
    if (!mapped.is_ok()) log_debug("kernels cannot use host memory: " + mapped.to_string());
    snapshot_.host_access = host_window_.access();
  }
  if (mirrors_pinned) host_memory_.mirror_pinned();
  describe_host_access(snapshot_, mirrors_pinned);
}

std::optional<hipError_t> Client::before_post(protocol::OpTraits what, int device,
                                              std::span<const std::byte> head,
                                              std::span<const std::byte> tail) {
  if (graphs_.capturing()) {
    if (const auto verdict = graphs_.offer(what, device, head)) return verdict;
  }
  if (!what.has(protocol::Trait::kReachesHost)) return std::nullopt;
  hipError_t error = host_allocations_.wake_named(head);
  if (error == hipSuccess) error = host_allocations_.wake_named(tail);
  if (error == hipSuccess) error = mirror_.before(what);
  if (error != hipSuccess) return error;
  return std::nullopt;
}

hipError_t Client::stream_waited(int device, std::uint64_t stream) {
  device_memory_.stream_idle(device, stream);
  if (pools_.any()) pools_wait_for_stream(device, stream);
  return waited();
}

// The null stream waits for the blocking streams of its device.
void Client::pools_wait_for_stream(int device, std::uint64_t stream) {
  const Streams& streams = connection_.streams();
  const bool all = streams.quiet();
  pools_.synchronized(device, [&](const PoolOrder& freed) {
    if (all || stream != 0) return all || freed.stream == stream;
    return freed.device == device && streams.is_blocking(freed.stream);
  });
}

hipError_t Client::device_waited(int device) {
  device_memory_.device_idle(device);
  const bool all = connection_.streams().quiet();
  pools_.synchronized(device, [&](const PoolOrder& freed) { return all || freed.device == device; });
  return waited();
}

void Client::callback_refused(std::uint64_t cookie) { callbacks_.refused(cookie); }

void Client::callback_due(std::uint64_t cookie, hipError_t error, std::uint32_t output) {
  callbacks_.due(cookie, error, output);
}

void Client::add_variable(int device, std::uint64_t address, std::uint64_t bytes) {
  device_memory_.add_variable(device, address, bytes);
}

void Client::remove_variable(std::uint64_t address) {
  const auto found = device_memory_.find(address);
  if (found && found->base == address) advice_.forget(address, found->bytes);
  device_memory_.remove_variable(address);
}

void Client::unloading(std::uint64_t module) { texture_references_.library().forget_module(module); }

hipError_t Client::make_managed(int device, std::uint64_t initial, std::uint64_t bytes,
                                std::uint64_t& address) {
  void* memory = nullptr;
  hipError_t error = host_allocations_.allocate_variable(device, bytes, memory);
  if (error != hipSuccess) return error;
  CopyMode mode;
  mode.device = device;
  mode.wait = true;
  error = copy(copies_, mode, memory, reinterpret_cast<const void*>(initial), bytes, hipMemcpyDefault);
  address = to_raw(memory);
  if (error != hipSuccess) remove_managed(address);
  return error;
}

void Client::remove_managed(std::uint64_t address) {
  const auto range = host_memory_.find(reinterpret_cast<const void*>(address));
  if (range && range->base == address) static_cast<void>(host_allocations_.free(*range));
}

std::optional<hipcore::AdvisedMemory> Client::advised(const void* pointer, std::uint64_t bytes) const {
  const std::uint64_t address = to_raw(pointer);
  if (const auto device = device_memory_.find(address)) {
    const auto coherency = hipcore::coherency_of_device(hipDeviceMallocDefault);
    return hipcore::AdvisedMemory{{device->base, device->bytes, address, bytes}, coherency, false};
  }
  const auto host = host_memory_.find(pointer);
  if (!host) return std::nullopt;
  hipcore::AdvisedMemory memory{{host->base, host->bytes, address, bytes}};
  memory.managed = host->kind == HostRange::Kind::kManaged;
  if (host->kind == HostRange::Kind::kFineGrained)
    memory.coherency = hipcore::coherency_of_device(host->flags);
  if (host->kind == HostRange::Kind::kPinned) memory.coherency = hipcore::coherency_of_host(host->flags);
  if (!host->owned()) memory.coherency = hipcore::coherency_of_registered(host->flags);
  return memory;
}

// Mapped and opened memory counts as seen: this process does not know who else has it.
bool Client::seen_by_others(std::uint64_t address) {
  const auto block = device_memory_.find_block(address);
  return !block || shared_memory_.key_of(block->base).has_value();
}

void Client::unshare(int device, std::uint64_t base) {
  auto key = shared_memory_.freed(base);
  if (!key) return;
  protocol::WithdrawSharedRequest request{};
  request.key_low = key->low;
  request.key_high = key->high;
  (void)connection_.post(device, request);
}

void Client::end_mapping(std::uint64_t base) {
  const auto found = device_memory_.find(base);
  if (found && found->base == base) advice_.forget(base, found->bytes);
  static_cast<void>(device_memory_.remove_mapping(base));
}

void Client::await_what_shows_of_pending() {
  if (!copies_.pending_work_shows()) return;
  about_to_wait();
  static_cast<void>(host_allocations_.wait_for_devices());
}

// Not in a host function, whose stream would wait for it. Failures are left to the program's next waiting
// call.
void Client::await_left_copies() {
  for (int device = 0; device < connection_.device_count(); ++device) {
    if (!connection_.streams().may_have_left_copy(device) || callbacks_.is_pump()) continue;
    about_to_wait();
    static_cast<void>(connection_.drain(device));
  }
}

hipError_t Client::allocate_block(int device, std::size_t bytes, std::uint64_t& address) {
  return device_memory_.allocate(device, bytes, address);
}

hipError_t Client::free_block(std::uint64_t address) {
  const auto found = device_memory_.find_block(address);
  if (!found || found->base != address) return hipErrorInvalidValue;
  unshare(found->device, address);
  advice_.forget(found->base, found->bytes);
  // Posted before the block can be handed out again; the worker runs what follows after the device's earlier
  // work.
  protocol::FreeMemoryRequest request{};
  request.address = address;
  const hipError_t error = connection_.post(found->device, request);
  pools_.freed(address);
  const hipError_t released = device_memory_.release(address);
  return error != hipSuccess ? error : released;
}

void Client::free_memory(int device) {
  for (const std::uint64_t address : device_memory_.blocks(device))
    if (!graphs_.library().free_memory(reinterpret_cast<void*>(address)))
      static_cast<void>(free_block(address));
  for (const HostRange& range : host_memory_.managed(device))
    static_cast<void>(host_allocations_.free(range));
  pools_.synchronized(device, [](const PoolOrder&) { return false; });
}

}  // namespace tf::proxy
