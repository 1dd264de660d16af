// SPDX-License-Identifier: Apache-2.0
// Advice on memory: stored here, since managed memory is host memory on both sides.
#include <optional>

#include "proxy/exported/support.h"
#include "proxy/gen/local.h"

namespace tf::proxy::local {

hipError_t hipMemAdvise(const void* pointer, size_t bytes, hipMemoryAdvise advice, int device) {
  hipError_t error = hipSuccess;
  Client* client = client_for(error);
  if (client == nullptr) return note_error(error);
  return note_error(
      client->advice().advise(client->advised(pointer, bytes), advice, device, client->device_count()));
}

hipError_t hipMemRangeGetAttribute(void* data, size_t data_bytes, hipMemRangeAttribute attribute,
                                   const void* pointer, size_t bytes) {
  hipError_t error = hipSuccess;
  Client* client = client_for(error);
  if (client == nullptr) return note_error(error);
  return note_error(client->advice().get(client->advised(pointer, bytes), attribute, data, data_bytes));
}

hipError_t hipMemRangeGetAttributes(void** data, size_t* data_bytes, hipMemRangeAttribute* attributes,
                                    size_t count, const void* pointer, size_t bytes) {
  hipError_t error = hipSuccess;
  Client* client = client_for(error);
  if (client == nullptr) return note_error(error);
  return note_error(
      client->advice().get(client->advised(pointer, bytes), attributes, data, data_bytes, count));
}

}  // namespace tf::proxy::local
