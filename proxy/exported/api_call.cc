// SPDX-License-Identifier: Apache-2.0
// The slow parts of a HIP call: connecting, translating handles, posting, waiting.
#include "proxy/exported/api_call.h"

#include <array>
#include <cstring>

#include "proxy/client/client.h"
#include "proxy/client/process.h"
#include "transport/base/mutex.h"

namespace tf::proxy {

using protocol::HandleKind;

namespace {

constexpr std::uint64_t kPerThreadStream = 2;  // hipStreamPerThread

// AMD's error for an unknown handle.
hipError_t unknown_handle(HandleKind kind) {
  if (kind == HandleKind::kStream) return hipErrorContextIsDestroyed;
  return kind == HandleKind::kFunction ? hipErrorInvalidDeviceFunction : hipErrorInvalidHandle;
}

// The calling thread's hipStreamPerThread on `device`. 0: no handle left or connection lost.
std::uint64_t own_stream(Client& client, int device) {
  std::uint64_t& raw = thread_state().own_streams[static_cast<std::size_t>(device) % kThreadDevicesMax];
  HandleTable& streams = client.handles().of(HandleKind::kStream);
  if (raw != 0 && streams.contains(raw)) return raw;
  auto handle = streams.create(device);
  if (!handle) return 0;
  protocol::StreamCreateWithFlagsRequest request{};
  request.stream = handle->raw();
  request.flags = hipStreamDefault;
  if (client.connection().post(device, request) != hipSuccess) return 0;
  raw = handle->raw();
  return raw;
}

}  // namespace

void ApiCall::recycle() { consumed_from_->recycle(consumed_); }

bool ApiCall::connected() {
  client_ = acquire_client();
  if (client_ != nullptr && client_->has_devices()) [[likely]] {
    handles_ = &client_->handles();
    return true;
  }
  failure_ = client_ == nullptr ? no_client_error() : hipErrorNoDevice;
  return false;
}

// Handles values that are not live handles: a stream with a constant name, or an error.
bool ApiCall::translate_constant(HandleKind kind, std::uint64_t& handle) {
  if (kind != HandleKind::kStream || handle > kPerThreadStream) {
    failure_ = unknown_handle(kind);
    return false;
  }
  // hipStreamLegacy is the null stream by another name.
  const bool own = handle == kPerThreadStream;
  handle = own ? own_stream(*client_, device()) : 0;
  if (!own || handle != 0) return true;
  failure_ = client_->connection().lost() ? kLostError : hipErrorOutOfMemory;
  return false;
}

bool ApiCall::create(HandleKind kind, std::uint64_t& out, void*& value) {
  auto handle = client_->handles().of(kind).create(device());
  if (!handle) {
    failure_ = hipErrorOutOfMemory;
    return false;
  }
  out = handle->raw();
  value = to_pointer(*handle);
  return true;
}

bool ApiCall::consume(HandleKind kind, const void* value, std::uint64_t& out) {
  out = to_raw(value);
  if (kind == HandleKind::kStream && out > kPerThreadStream) client_->streams().await_copies(device(), out);
  HandleTable& table = client_->handles().of(kind);
  if (consumed_from_ == nullptr && table.retire(out)) {
    consumed_from_ = &table;
    consumed_ = out;
    return true;
  }
  failure_ = table.is_permanent(out) ? hipErrorInvalidValue : hipErrorInvalidHandle;
  if (kind == HandleKind::kStream)
    failure_ = out <= kPerThreadStream ? hipErrorInvalidHandle : unknown_handle(kind);
  if (kind == HandleKind::kEvent && out != 0)
    failure_ = hipErrorContextIsDestroyed;  // unlike other calls of events
  return false;
}

bool ApiCall::owns(const void* pointer, std::uint64_t bytes, std::uint64_t& sent) {
  const std::uint64_t address = to_raw(pointer);
  if (client_->device_memory().contains(address, bytes)) return true;
  const HostMemory& host = client_->copies().host_memory();
  sent = host.will_be_seen_by_devices(address, bytes);
  owns_host_ = host.could_reach(sent, bytes);
  if (owns_host_) return true;
  failure_ = hipErrorInvalidValue;
  return false;
}

bool ApiCall::has_device(int device) {
  if (device >= 0 && device < client_->device_count()) return true;
  failure_ = hipErrorInvalidDevice;
  return false;
}

const protocol::DeviceProperties& ApiCall::properties(int device) {
  return client_->snapshot().devices[static_cast<std::size_t>(device)].properties;
}

bool ApiCall::ordinal(int device, std::int32_t& out) {
  if (!has_device(device)) return false;
  out = client_->connection().worker_ordinal(device);
  return true;
}

bool ApiCall::registered(const void* host_function, hipFunction_t& function) {
  std::uint64_t handle = 0;
  failure_ = host_function == nullptr
                 ? hipErrorInvalidDeviceFunction
                 : client_->modules().registered_function(device(), host_function, handle);
  if (failure_ != hipSuccess) return false;
  function = static_cast<hipFunction_t>(to_pointer(protocol::Handle(handle)));
  return true;
}

hipError_t ApiCall::post_bytes(protocol::OpTraits what, std::span<const std::byte> head,
                               std::span<const std::byte> tail, Trace trace) {
  const hipError_t error = client_->connection().send(what, device(), head, tail);
  client_->streams().note_posted(device(), trace);
  return finish(error);
}

void ApiCall::about_to_add_stream(unsigned flags) { client_->about_to_add_stream(flags); }

void ApiCall::await_owed(const protocol::EventElapsedTimeRequest& request) {
  Connection& connection = client_->connection();
  for (const std::uint64_t event : {request.start, request.stop}) {
    const auto recording = connection.streams().recordings().find(event);
    if (!recording || recording->reached || !connection.streams().owes_wait(*recording)) continue;
    client_->about_to_wait();
    // What it answers, the call that follows answers too.
    protocol::SynchronizeEventReply untimed{};
    static_cast<void>(connection.call(device(), protocol::SynchronizeEventRequest{.event = event}, untimed));
  }
}

hipError_t ApiCall::call(const protocol::EventElapsedTimeRequest& request,
                         protocol::EventElapsedTimeReply& reply) {
  Streams& streams = client_->streams();
  const auto known = streams.times().find(streams.recordings(), request.start, request.stop);
  if (known && !client_->connection().lost()) {
    reply.milliseconds = *known;
    return finish(hipSuccess);
  }
  await_owed(request);
  const hipError_t error = call_bytes(request.kOp, std::as_bytes(std::span(&request, 1)), {},
                                      std::as_writable_bytes(std::span(&reply, 1)));
  if (error == hipSuccess) streams.times().learn(request.start, request.stop);
  return error;
}

hipError_t ApiCall::wait_for_fill(hipError_t error) {
  if (error != hipSuccess) return error;
  return finish(client_->connection().synchronize_stream(device(), 0));
}

hipError_t ApiCall::call_bytes(protocol::Op op, std::span<const std::byte> head,
                               std::span<const std::byte> tail, std::span<std::byte> reply) {
  return finish(client_->connection().exchange(op, device(), head, tail, reply));
}

hipError_t ApiCall::cached_bytes(protocol::Op op, std::span<const std::byte> head,
                                 std::span<std::byte> reply) {
  ReplyCache& cache = client_->connection().replies();
  if (cache.find(op, device(), head, reply)) return finish(hipSuccess);
  hipError_t error = call_bytes(op, head, {}, reply);
  if (error == hipSuccess) cache.keep(op, device(), head, reply);
  return error;
}

hipError_t ApiCall::create_once_bytes(HandleKind kind, protocol::OpTraits what,
                                      std::span<const std::byte> head, std::uint64_t& handle, void*& value) {
  handle = 0;  // part of the key, which must be the same for every caller
  std::array<std::byte, kCachedRequestBytesMax> key;
  if (head.size() > key.size()) return finish(hipErrorInvalidValue);
  std::memcpy(key.data(), head.data(), head.size());
  const std::span<const std::byte> asked = std::span(key).first(head.size());
  const MutexLock lock(client_->created_order());
  ReplyCache& created = client_->created();
  std::span<std::byte> raw = std::as_writable_bytes(std::span(&handle, 1));
  if (created.find(what.op, ReplyCache::kEveryDevice, asked, raw)) {
    value = to_pointer(protocol::Handle(handle));
    return finish(hipSuccess);
  }
  if (!create(kind, handle, value)) return finish();
  client_->handles().of(kind).make_permanent(handle);
  hipError_t error = post_bytes(what, head, {}, Trace{});
  if (error == hipSuccess) created.keep(what.op, ReplyCache::kEveryDevice, asked, raw);
  return error;
}

}  // namespace tf::proxy
