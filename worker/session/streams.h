// SPDX-License-Identifier: Apache-2.0
// Streams: the client's streams, the destroyed ones that still have work, and whether devices are idle.
// Belongs to the executor thread.
#pragma once

#include <hip/hip_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "hipcore/wire/gen/hip_table.h"
#include "worker/base/current_device.h"
#include "worker/base/life.h"
#include "worker/base/object_table.h"
#include "worker/base/optional_functions.h"
#include "worker/base/own_calls.h"
#include "worker/session/late_fills.h"

namespace tf::worker {

inline constexpr std::size_t kFinishingStreamsMax = 1024;  // destroyed by the client, still at work

class Streams {
 public:
  // All outlive it. `objects` holds the streams that the client can name.
  Streams(const protocol::HipTable& hip, const OptionalFunctions& optional, OwnCalls& own_calls,
          ObjectTable& objects, LateFills& late_fills, CurrentDevice& device, Life& life)
      : hip_(hip),
        create_masked_(optional.create_masked_stream),
        follow_null_(optional.follow_null),
        own_calls_(own_calls),
        objects_(objects),
        late_fills_(late_fills),
        device_(device),
        life_(life) {}
  Streams(const Streams&) = delete;
  Streams& operator=(const Streams&) = delete;

  // Client's stream handle -> runtime stream and its device. False: unknown. 0 and 1 are the null stream of
  // the current device. What the stream gets from now on follows the fills without a stream so far.
  bool find(std::uint64_t raw, hipStream_t& stream, int& device);
  // The client's handle; 0 for the null stream and for destroyed ones.
  std::uint64_t name_of(hipStream_t stream) const;

  // On the current device. Its kernels use the compute units of the mask, as far as the runtime lets them.
  hipError_t create_masked(hipStream_t& stream, unsigned flags, int priority,
                           std::span<const std::uint32_t> mask) const;

  // hipRemoteFollowNull(), also where the runtime has no such function. Of the current device, which is the
  // stream's. `polls`: for a query, which needs it only if the stream is done. Who asks again and again does
  // not fill it.
  hipError_t follow_null(hipStream_t stream, int device, bool polls);

  // Destroys the stream once it is idle. Until then its device does not count as idle.
  hipError_t let_finish(hipStream_t stream, int device);
  // Destroys those that have become idle.
  void sweep() {
    if (!finishing_.empty()) sweep_finishing();
  }
  // Destroys them as they are.
  void release();

  // Whether every stream of `device` is idle; makes the device current.
  bool device_idle(int device);
  // Whether all devices are; the current one stays it.
  bool all_idle();
  // Wait until it is idle. False: the session ends instead.
  bool wait_device_idle(int device);
  bool wait_all_idle();

 private:
  // If the runtime finished them, nobody here could tell when a device is idle.
  struct Finishing {
    hipStream_t stream = nullptr;
    int device = 0;
  };

  void sweep_finishing();

  const protocol::HipTable& hip_;
  const decltype(OptionalFunctions::create_masked_stream) create_masked_;
  const decltype(OptionalFunctions::follow_null) follow_null_;
  OwnCalls& own_calls_;
  ObjectTable& objects_;
  LateFills& late_fills_;
  CurrentDevice& device_;
  Life& life_;
  std::vector<Finishing> finishing_;
};

}  // namespace tf::worker
