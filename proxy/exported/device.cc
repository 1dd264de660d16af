// SPDX-License-Identifier: Apache-2.0
// Devices: everything here comes from the snapshot in HELLO.
#include <algorithm>
#include <cstdio>
#include <cstring>

#include "hipcore/abi/rules.h"
#include "hipcore/errors/attributes.h"
#include "proxy/exported/support.h"
#include "proxy/gen/custom.h"
#include "proxy/gen/local.h"

namespace tf::proxy::local {
namespace {

constexpr unsigned kDeviceFlagsKnown = hipDeviceScheduleMask | hipDeviceMapHost | hipDeviceLmemResizeToMax;
constexpr int kBusIdBytesMin = 13;  // "0000:03:00.0" and its end

hipError_t copy_text(const std::string& text, char* target, int length) {
  if (target == nullptr || length <= 0) return hipErrorInvalidValue;
  std::size_t bytes = std::min(text.size(), static_cast<std::size_t>(length) - 1);
  std::memcpy(target, text.data(), bytes);
  target[bytes] = '\0';
  return hipSuccess;
}

// Programs compare it with what they were built for: hashcat 7 wants 6.0 at least. The worker's own may be of
// another major.
int as_of_this_major(int version) {
  constexpr int kMajor = 10'000'000;
  return static_cast<unsigned>(version / kMajor) == abi::kRules.major ? version : abi::kRules.version;
}

}  // namespace

hipError_t hipDriverGetVersion(int* version) {
  if (version == nullptr) return note_error(hipErrorInvalidValue);
  Client* client = acquire_client();
  if (client == nullptr) return note_error(no_client_error());
  *version = as_of_this_major(client->snapshot().driver_version);
  return note_error(hipSuccess);
}

hipError_t hipRuntimeGetVersion(int* version) {
  if (version == nullptr) return note_error(hipErrorInvalidValue);
  *version = abi::kRules.version;  // of the library that the program has loaded
  return note_error(hipSuccess);
}

hipError_t hipGetDeviceCount(int* count) {
  if (count == nullptr) return note_error(hipErrorInvalidValue);
  *count = 0;
  Client* client = acquire_client();
  if (client == nullptr) return note_error(hipErrorNoDevice);  // as on a machine without a GPU
  *count = client->device_count();
  return note_error(*count > 0 ? hipSuccess : hipErrorNoDevice);
}

hipError_t hipSetDevice(int device) {
  hipError_t error = hipSuccess;
  if (device_for(device, error) == nullptr) return note_error(error);
  thread_state().device = device;
  thread_state().has_chosen = true;
  return note_error(hipSuccess);
}

// The first of the list, for a thread that has chosen none, as in AMD's runtime.
hipError_t hipSetValidDevices(int* devices, int count) {
  if (count == 0) return note_error(hipSuccess);
  hipError_t error = hipSuccess;
  const Client* const client = client_for(error);
  if (client == nullptr) return note_error(error);
  if (devices == nullptr || count < 0 || count > client->device_count())
    return note_error(hipErrorInvalidValue);
  for (int i = 0; i < count; ++i) {
    if (device_for(devices[i], error) == nullptr) return note_error(error);
  }
  if (!thread_state().has_chosen) thread_state().device = devices[0];
  return note_error(hipSuccess);
}

hipError_t hipDeviceGetName(char* name, int length, hipDevice_t device) {
  hipError_t error = hipSuccess;
  const auto* snapshot = device_for(device, error);
  return note_error(snapshot == nullptr ? error : copy_text(snapshot->properties.name, name, length));
}

hipError_t hipDeviceGetUuid(hipUUID* uuid, hipDevice_t device) {
  hipError_t error = hipSuccess;
  const auto* snapshot = device_for(device, error);
  if (snapshot == nullptr) return note_error(error);
  if (uuid == nullptr) return note_error(hipErrorInvalidValue);
  static_assert(sizeof uuid->bytes == sizeof snapshot->properties.uuid);
  std::memcpy(uuid->bytes, snapshot->properties.uuid.data(), sizeof uuid->bytes);
  return note_error(hipSuccess);
}

hipError_t hipDeviceGetPCIBusId(char* bus_id, int length, int device) {
  hipError_t error = hipSuccess;
  const auto* snapshot = device_for(device, error);
  if (snapshot == nullptr) return note_error(error);
  if (length < kBusIdBytesMin) return note_error(hipErrorInvalidValue);
  return note_error(copy_text(snapshot->pci_bus_id, bus_id, length));
}

hipError_t hipDeviceGetByPCIBusId(int* device, const char* bus_id) {
  if (device == nullptr || bus_id == nullptr) return note_error(hipErrorInvalidValue);
  hipError_t error = hipSuccess;
  Client* client = client_for(error);
  if (client == nullptr) return note_error(error);
  int wanted[3] = {0, 0, 0};
  if (std::sscanf(bus_id, "%4x:%4x:%4x", reinterpret_cast<unsigned*>(&wanted[0]),
                  reinterpret_cast<unsigned*>(&wanted[1]), reinterpret_cast<unsigned*>(&wanted[2])) != 3)
    return note_error(hipErrorInvalidValue);
  for (int i = 0; i < client->device_count(); ++i) {
    const auto& properties = client->snapshot().devices[static_cast<std::size_t>(i)].properties;
    if (properties.pci_domain != wanted[0] || properties.pci_bus != wanted[1] ||
        properties.pci_device != wanted[2])
      continue;
    *device = i;
    return note_error(hipSuccess);
  }
  return note_error(hipErrorInvalidValue);
}

hipError_t hipDeviceGetAttribute(int* value, hipDeviceAttribute_t attribute, int device) {
  if (value == nullptr) return note_error(hipErrorInvalidValue);
  hipError_t error = hipSuccess;
  const auto* snapshot = device_for(device, error);
  if (snapshot == nullptr) return note_error(error);
  if (hipdata::answers_a_pointer(attribute)) {
    hipdata::answer_no_pointer(value);
    return note_error(hipSuccess);
  }
  const protocol::AttributeValue* known = snapshot->attribute(static_cast<std::int32_t>(attribute));
  if (known == nullptr) return note_error(hipErrorInvalidValue);
  if (known->error == hipSuccess) *value = known->value;
  return note_error(static_cast<hipError_t>(known->error));
}

hipError_t hipDeviceGetLimit(size_t* value, enum hipLimit_t limit) {
  if (value == nullptr || abi::kRules.is_beyond_limits(limit)) return note_error(hipErrorInvalidValue);
  hipError_t error = hipSuccess;
  Client* client = client_for(error);
  if (client == nullptr) return note_error(error);
  return note_error(client->limits().get(thread_state().device, limit, *value));
}

// This library decides how to wait, so the flags are only kept for hipGetDeviceFlags.
hipError_t hipSetDeviceFlags(unsigned int flags) {
  if ((flags & ~kDeviceFlagsKnown) != 0) return note_error(hipErrorInvalidValue);
  unsigned schedule = flags & hipDeviceScheduleMask;
  bool one = schedule == hipDeviceScheduleAuto || schedule == hipDeviceScheduleSpin ||
             schedule == hipDeviceScheduleYield || schedule == hipDeviceScheduleBlockingSync;
  if (!one) return note_error(hipErrorInvalidValue);
  hipError_t error = hipSuccess;
  Client* client = client_for(error);
  if (client == nullptr) return note_error(error);
  client->set_device_flags(thread_state().device, schedule);  // the others mean nothing here
  return note_error(hipSuccess);
}

}  // namespace tf::proxy::local

namespace tf::proxy::custom {

hipError_t hipDeviceSetLimit(ApiCall& call, enum hipLimit_t limit, size_t value) {
  if (abi::kRules.is_beyond_limits(limit)) return call.finish(hipErrorInvalidValue);
  if (!call.connected()) return call.finish();
  protocol::SetLimitRequest request{};
  request.limit = static_cast<std::uint32_t>(limit);
  request.value = value;
  protocol::SetLimitReply reply{};
  const hipError_t error = call.call(request, reply);
  if (error == hipSuccess) call.client().limits().set(call.device(), limit, reply.value);
  // A runtime of another major may have its limits end elsewhere.
  std::size_t known = 0;
  const bool lacks =
      error == hipErrorInvalidValue && call.client().limits().get(call.device(), limit, known) != hipSuccess;
  return lacks ? call.finish(hipErrorUnsupportedLimit) : error;
}

}  // namespace tf::proxy::custom
