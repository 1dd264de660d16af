// SPDX-License-Identifier: Apache-2.0
// Device properties in both of HIP's forms, and the choice of a device by them.
#include "hipcore/abi/properties.h"
#include "proxy/exported/properties.h"
#include "proxy/exported/support.h"
#include "proxy/gen/local.h"

namespace tf::proxy::local {
namespace {

template <typename Properties>
hipError_t choose(int* device, const Properties* wish) {
  if (device == nullptr || wish == nullptr) return note_error(hipErrorInvalidValue);
  hipError_t error = hipSuccess;
  Client* client = client_for(error);
  if (client == nullptr) return note_error(error);
  int best = 0;
  int best_matches = -1;
  for (int i = 0; i < client->device_count(); ++i) {
    hipDeviceProp_t candidate{};
    to_hip(client->snapshot().devices[static_cast<std::size_t>(i)].properties, candidate);
    const int matches = abi::matches(*wish, candidate);
    if (matches <= best_matches) continue;
    best = i;
    best_matches = matches;
  }
  *device = best;
  return note_error(hipSuccess);
}

}  // namespace

hipError_t hipGetDeviceProperties(hipDeviceProp_t* properties, int device) {
  if (properties == nullptr) return note_error(hipErrorInvalidValue);
  hipError_t error = hipSuccess;
  const auto* snapshot = device_for(device, error);
  if (snapshot == nullptr) return note_error(error);
  to_hip(snapshot->properties, *properties);
  return note_error(hipSuccess);
}

hipError_t hipGetDevicePropertiesR0600(hipDeviceProp_tR0600* properties, int device) {
  if (properties == nullptr) return note_error(hipErrorInvalidValue);
  hipError_t error = hipSuccess;
  const auto* snapshot = device_for(device, error);
  if (snapshot == nullptr) return note_error(error);
  hipDeviceProp_t common{};
  to_hip(snapshot->properties, common);
  const auto attribute = [&](hipDeviceAttribute_t number) {
    const protocol::AttributeValue* known = snapshot->attribute(static_cast<std::int32_t>(number));
    return known != nullptr && known->error == hipSuccess ? known->value : 0;
  };
  abi::to_r0600(common, attribute, *properties);
  std::memcpy(properties->uuid.bytes, snapshot->properties.uuid.data(), sizeof properties->uuid.bytes);
  return note_error(hipSuccess);
}

hipError_t hipChooseDevice(int* device, const hipDeviceProp_t* properties) {
  return choose(device, properties);
}

hipError_t hipChooseDeviceR0600(int* device, const hipDeviceProp_tR0600* properties) {
  return choose(device, properties);
}

}  // namespace tf::proxy::local
