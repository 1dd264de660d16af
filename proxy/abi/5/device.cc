// SPDX-License-Identifier: Apache-2.0
// Device functions whose struct has its own layout in HIP 5.
#include "proxy/abi/5/properties.h"
#include "proxy/exported/support.h"
#include "proxy/gen/local.h"

namespace tf::proxy::local {

hipError_t hipGetDeviceProperties(hipDeviceProp_t* properties, int device) {
  if (properties == nullptr) return note_error(hipErrorInvalidValue);
  hipError_t error = hipSuccess;
  const auto* snapshot = device_for(device, error);
  if (snapshot == nullptr) return note_error(error);
  abi5::to_hip(snapshot->properties, *properties);
  return note_error(hipSuccess);
}

hipError_t hipChooseDevice(int* device, const hipDeviceProp_t* properties) {
  if (device == nullptr || properties == nullptr) return note_error(hipErrorInvalidValue);
  hipError_t error = hipSuccess;
  Client* client = client_for(error);
  if (client == nullptr) return note_error(error);
  int best = 0;
  int best_matches = -1;
  for (int i = 0; i < client->device_count(); ++i) {
    hipDeviceProp_t candidate{};
    abi5::to_hip(client->snapshot().devices[static_cast<std::size_t>(i)].properties, candidate);
    int matches = abi5::matches(*properties, candidate);
    if (matches > best_matches) {
      best = i;
      best_matches = matches;
    }
  }
  *device = best;
  return note_error(hipSuccess);
}

}  // namespace tf::proxy::local
