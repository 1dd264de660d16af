// SPDX-License-Identifier: Apache-2.0
#include "tests/amd/hsa/queues.h"

#include <cinttypes>
#include <cstdio>
#include <cstring>

#include "tests/amd/hsa/report.h"
#include "tests/amd/hsa/runtime.h"

namespace tf::amd::hsa {
namespace {

constexpr std::size_t kDescriptorBytes = 64;

void say_times(const std::string& kernel, const isa::Cost& cost) {
  char text[96];
  std::snprintf(text, sizeof text, ": %" PRIu64 " wave instructions, %.6f s of a processor",
                cost.instructions, cost.processor_seconds);
  report("kernel " + kernel + text);
}

hsa_status_t status_of(isa::FailureKind kind) {
  switch (kind) {
    case isa::FailureKind::kUnknownInstruction:
    case isa::FailureKind::kUnsupportedOperand:
      return static_cast<hsa_status_t>(HSA_STATUS_ERROR_ILLEGAL_INSTRUCTION);
    case isa::FailureKind::kMemoryFault: return static_cast<hsa_status_t>(HSA_STATUS_ERROR_MEMORY_FAULT);
    case isa::FailureKind::kMisaligned:
      return static_cast<hsa_status_t>(HSA_STATUS_ERROR_MEMORY_APERTURE_VIOLATION);
    case isa::FailureKind::kTrap: return HSA_STATUS_ERROR_EXCEPTION;
    case isa::FailureKind::kInvalidDispatch: return HSA_STATUS_ERROR_INVALID_PACKET_FORMAT;
    case isa::FailureKind::kCancelled:
    case isa::FailureKind::kUnavailable: break;
  }
  return HSA_STATUS_ERROR;
}

std::atomic_ref<std::uint16_t> header_of(char* packet) {
  return std::atomic_ref<std::uint16_t>(*reinterpret_cast<std::uint16_t*>(packet));
}

unsigned type_of(std::uint16_t header) {
  return (header >> HSA_PACKET_HEADER_TYPE) & ((1U << HSA_PACKET_HEADER_WIDTH_TYPE) - 1);
}

// A queue has no other writer of packets that are published.
template <typename Packet>
const Packet& as(const char* packet) {
  static_assert(sizeof(Packet) == kPacketBytes);
  return *reinterpret_cast<const Packet*>(packet);
}

}  // namespace

std::unique_ptr<Queue> Queue::create(Runtime& runtime, Agent& agent, std::uint32_t packets,
                                     hsa_queue_type32_t type, QueueCallback callback, void* data) {
  std::unique_ptr<Queue> queue(new Queue(runtime, agent));
  if (!queue->allocate(packets, type)) return nullptr;
  queue->callback_ = callback;
  queue->data_ = data;
  queue->thread_ = std::thread([raw = queue.get()] { raw->serve(); });
  return queue;
}

bool Queue::allocate(std::uint32_t packets, hsa_queue_type32_t type) {
  static std::atomic<std::uint64_t> next_id{1};
  constexpr std::uint32_t kFine = HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_FINE_GRAINED;
  const AgentMask all = runtime_.all_agents();
  shared_ = static_cast<amd_queue_t*>(runtime_.memory.allocate(0, sizeof(amd_queue_t), kFine, all));
  packets_ = static_cast<char*>(runtime_.memory.allocate(0, packets * kPacketBytes, kFine, all));
  const hsa_signal_t doorbell = runtime_.signals.create(-1, all);
  if (shared_ == nullptr || packets_ == nullptr || doorbell.handle == 0) return false;
  for (std::uint32_t at = 0; at < packets; at++)
    header_of(packets_ + at * kPacketBytes).store(HSA_PACKET_TYPE_INVALID);
  hsa_queue_t& queue = shared_->hsa_queue;
  queue.type = type;
  queue.features = HSA_QUEUE_FEATURE_KERNEL_DISPATCH;
  queue.base_address = packets_;
  queue.doorbell_signal = doorbell;
  queue.size = packets;
  queue.id = next_id.fetch_add(1);
  shared_->group_segment_aperture_base_hi = isa::kSharedApertureHigh;
  shared_->private_segment_aperture_base_hi = isa::kPrivateApertureHigh;
  shared_->queue_properties = AMD_QUEUE_PROPERTIES_IS_PTR64;
  shared_->read_dispatch_id_field_base_byte_offset = offsetof(amd_queue_t, read_dispatch_id);
  return true;
}

Queue::~Queue() {
  ending_.store(true);
  all_signals_changed();
  if (thread_.joinable()) thread_.join();
  if (shared_ != nullptr) {
    runtime_.signals.destroy(shared_->hsa_queue.doorbell_signal);
    runtime_.memory.release(shared_);
  }
  if (packets_ != nullptr) runtime_.memory.release(packets_);
}

void Queue::serve() {
  amd_signal_t& doorbell = *signal_at(shared_->hsa_queue.doorbell_signal);
  std::int64_t heard = -1;
  while (!ending_.load()) {
    heard = wait_for(
        doorbell, [heard](std::int64_t value) { return value != heard; }, kForever, &ending_);
    if (!drain()) return;
  }
}

// Executes what is published. False: the queue has stopped.
bool Queue::drain() {
  auto read_index = read_index_of(handle());
  for (std::uint64_t index = read_index.load(); index < write_index_of(handle()).load(); index++) {
    if (ending_.load()) return false;
    char* packet = packets_ + index % shared_->hsa_queue.size * kPacketBytes;
    const std::uint16_t header = header_of(packet).load();
    if (type_of(header) == HSA_PACKET_TYPE_INVALID) return true;  // its producer has yet to ring the doorbell
    const Stop stop = execute(header, packet, index);
    if (ending_.load()) return false;
    if (stop.status != HSA_STATUS_SUCCESS) {
      fail(stop);
      return false;
    }
    header_of(packet).store(HSA_PACKET_TYPE_INVALID);
    read_index.store(index + 1);
  }
  return true;
}

Queue::Stop Queue::execute(std::uint16_t header, char* packet, std::uint64_t index) {
  const std::uint64_t start = timestamp_ns();
  hsa_signal_t completion{0};
  Stop stop;
  switch (type_of(header)) {
    case HSA_PACKET_TYPE_KERNEL_DISPATCH:
      completion = as<hsa_kernel_dispatch_packet_t>(packet).completion_signal;
      stop = dispatch(as<hsa_kernel_dispatch_packet_t>(packet), index);
      break;
    case HSA_PACKET_TYPE_BARRIER_AND:
      completion = as<hsa_barrier_and_packet_t>(packet).completion_signal;
      stop = barrier(as<hsa_barrier_and_packet_t>(packet).dep_signal, true);
      break;
    case HSA_PACKET_TYPE_BARRIER_OR:
      completion = as<hsa_barrier_or_packet_t>(packet).completion_signal;
      stop = barrier(as<hsa_barrier_or_packet_t>(packet).dep_signal, false);
      break;
    case HSA_PACKET_TYPE_VENDOR_SPECIFIC: {
      const auto& vendor = as<hsa_amd_barrier_value_packet_t>(packet);
      if (vendor.header.AmdFormat != HSA_AMD_PACKET_TYPE_BARRIER_VALUE) {
        return {HSA_STATUS_ERROR_INVALID_PACKET_FORMAT,
                "vendor packet of AMD format " + std::to_string(vendor.header.AmdFormat)};
      }
      completion = vendor.completion_signal;
      stop = barrier_value(vendor);
      break;
    }
    default:
      return {HSA_STATUS_ERROR_INVALID_PACKET_FORMAT, "packet of type " + std::to_string(type_of(header))};
  }
  if (stop.status == HSA_STATUS_SUCCESS && !ending_.load()) complete(completion, start);
  return stop;
}

Queue::Stop Queue::check(const hsa_kernel_dispatch_packet_t& packet) const {
  const auto refused = [](const std::string& text) {
    return Stop{HSA_STATUS_ERROR_INVALID_PACKET_FORMAT, text};
  };
  const unsigned dimensions = packet.setup & ((1U << HSA_KERNEL_DISPATCH_PACKET_SETUP_WIDTH_DIMENSIONS) - 1);
  if (dimensions < 1 || dimensions > 3) return refused(std::to_string(dimensions) + " dimensions");
  const std::uint64_t items =
      std::uint64_t{packet.workgroup_size_x} * packet.workgroup_size_y * packet.workgroup_size_z;
  if (items == 0 || items > isa::kWorkGroupItemsMax)
    return refused("a work-group of " + std::to_string(items) + " items");
  if (packet.grid_size_x == 0 || packet.grid_size_y == 0 || packet.grid_size_z == 0)
    return refused("an empty grid");
  const auto* descriptor = reinterpret_cast<const void*>(packet.kernel_object);
  if (!runtime_.memory.reaches(agent_.index, descriptor, kDescriptorBytes)) {
    return refused("kernel object " + hexadecimal(packet.kernel_object) + " outside of this agent's memory");
  }
  return {};
}

Queue::Stop Queue::dispatch(const hsa_kernel_dispatch_packet_t& packet, std::uint64_t index) {
  if (Stop stop = check(packet); stop.status != HSA_STATUS_SUCCESS) return stop;
  isa::Dispatch dispatch;
  dispatch.descriptor = reinterpret_cast<const void*>(packet.kernel_object);
  dispatch.grid_size = {packet.grid_size_x, packet.grid_size_y, packet.grid_size_z};
  dispatch.workgroup_size = {packet.workgroup_size_x, packet.workgroup_size_y, packet.workgroup_size_z};
  dispatch.group_segment_bytes = packet.group_segment_size;
  dispatch.private_segment_bytes = packet.private_segment_size;
  dispatch.kernarg = packet.kernarg_address;
  dispatch.queue = shared_;
  dispatch.dispatch_packet = &packet;
  dispatch.dispatch_id = index;
  dispatch.cancel = &ending_;
  isa::Cost cost;
  dispatch.cost = &cost;
  const std::optional<isa::Failure> failure = agent_.executor->run(dispatch);
  if (runtime_.says_times) say_times(runtime_.loader.kernel_at(packet.kernel_object), cost);
  all_signals_changed();  // the kernel may have written to any
  if (!failure || failure->kind == isa::FailureKind::kCancelled) return {};
  std::string text = std::string(isa::name(failure->kind)) + " at program counter " +
                     hexadecimal(failure->program_counter) + " of the kernel at " +
                     hexadecimal(packet.kernel_object);
  if (failure->address != 0) text += ", address " + hexadecimal(failure->address);
  Stop stop{status_of(failure->kind), text + ": " + failure->text};
  if (failure->kind == isa::FailureKind::kMemoryFault) stop.fault = failure->address;
  return stop;
}

Queue::Stop Queue::barrier(const hsa_signal_t (&dependencies)[5], bool all) {
  const auto is_zero = [](std::int64_t value) { return value == 0; };
  bool any = false;
  amd_signal_t* first = nullptr;
  for (const hsa_signal_t signal : dependencies) {
    if (signal.handle == 0) continue;
    if (!runtime_.signals.is_valid(signal)) {
      return {HSA_STATUS_ERROR_INVALID_SIGNAL,
              "barrier on " + hexadecimal(signal.handle) + ", which is no signal"};
    }
    if (all) wait_for(*signal_at(signal), is_zero, kForever, &ending_);
    if (first == nullptr) first = signal_at(signal);
  }
  if (all || first == nullptr) return {};
  constexpr std::uint64_t kLookAt_ns =
      50'000;  // threads sleep on one signal only: the others are looked at in turn
  while (!any && !ending_.load()) {
    for (const hsa_signal_t signal : dependencies)
      any = any || (signal.handle != 0 && value_of(*signal_at(signal)) == 0);
    if (!any) wait_for(*first, is_zero, kLookAt_ns, &ending_);
  }
  return {};
}

Queue::Stop Queue::barrier_value(const hsa_amd_barrier_value_packet_t& packet) {
  if (packet.signal.handle == 0) return {};
  if (!runtime_.signals.is_valid(packet.signal)) {
    return {HSA_STATUS_ERROR_INVALID_SIGNAL,
            "barrier-value on " + hexadecimal(packet.signal.handle) + ", which is no signal"};
  }
  const auto condition = static_cast<hsa_signal_condition_t>(packet.cond);
  if (packet.cond > HSA_SIGNAL_CONDITION_GTE) {
    return {HSA_STATUS_ERROR_INVALID_PACKET_FORMAT,
            "barrier-value with condition " + std::to_string(packet.cond)};
  }
  const auto holds = [&](std::int64_t value) {
    return satisfies(value & packet.mask, condition, packet.value);
  };
  wait_for(*signal_at(packet.signal), holds, kForever, &ending_);
  return {};
}

void Queue::complete(hsa_signal_t signal, std::uint64_t start) {
  if (signal.handle == 0) return;
  amd_signal_t& completion = *signal_at(signal);
  completion.start_ts = start;
  completion.end_ts = timestamp_ns();
  value_of(completion).fetch_sub(1);
  signal_changed(completion);
}

void Queue::fail(const Stop& stop) {
  report("queue " + std::to_string(shared_->hsa_queue.id) + " of agent " + std::to_string(agent_.index) +
         " stops: " + stop.text);
  if (stop.fault) runtime_.events.tell_fault(Runtime::handle_of(agent_.index), *stop.fault);
  if (callback_ != nullptr) callback_(stop.status, handle(), data_);
}

hsa_queue_t* Queues::add(std::unique_ptr<Queue> queue) {
  hsa_queue_t* handle = queue->handle();
  const std::lock_guard lock(mutex_);
  queues_.emplace(handle, std::move(queue));
  return handle;
}

bool Queues::remove(const hsa_queue_t* handle) {
  std::unique_ptr<Queue> queue;
  {
    const std::lock_guard lock(mutex_);
    const auto found = queues_.find(handle);
    if (found == queues_.end()) return false;
    queue = std::move(found->second);
    queues_.erase(found);
  }
  return true;
}

bool Queues::contains(const hsa_queue_t* handle) {
  const std::lock_guard lock(mutex_);
  return queues_.count(handle) != 0;
}

}  // namespace tf::amd::hsa
