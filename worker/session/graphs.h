// SPDX-License-Identifier: Apache-2.0
// Graphs: the session's executable graphs, and those being built from the client's nodes.
//
// Everything received is checked before the runtime sees it. An error in a node is remembered until the graph
// is instantiated. Belongs to the executor thread.
#pragma once

#include <hip/hip_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <vector>

#include "hipcore/graph/box.h"
#include "hipcore/wire/gen/hip_table.h"
#include "hipcore/wire/gen/messages.h"
#include "worker/base/address_map.h"
#include "worker/base/object_table.h"
#include "worker/base/own_calls.h"
#include "worker/memory/arrays.h"
#include "worker/memory/host_parts.h"

namespace tf::worker {

inline constexpr std::size_t kGraphBuildsMax = 64;             // begun, not instantiated
inline constexpr std::size_t kGraphExecsMax = 1 << 14;         // of a session
inline constexpr std::size_t kGraphNodesMax = 1 << 18;         // per graph
inline constexpr std::size_t kGraphSessionNodesMax = 1 << 20;  // all graphs of a session
inline constexpr std::size_t kGraphSessionEdgesMax = 1 << 23;
inline constexpr std::size_t kGraphSessionBytesMax = 256 << 20;  // all node messages

class Graphs {
 public:
  Graphs(const protocol::HipTable& hip, OwnCalls& own_calls, const AddressMap& addresses,
         const Arrays& arrays, const HostParts& host_parts, ObjectTable& objects)
      : hip_(hip),
        own_calls_(own_calls),
        addresses_(addresses),
        arrays_(arrays),
        host_parts_(host_parts),
        objects_(objects) {}
  Graphs(const Graphs&) = delete;
  Graphs& operator=(const Graphs&) = delete;

  // Destroys everything. REQUIRES: the devices are idle
  void release();
  void begin(std::uint64_t exec);
  void add(const protocol::BuildKernelNodeRequest& request, std::span<const std::byte> tail);
  void add(const protocol::BuildFillNodeRequest& request, std::span<const std::byte> tail);
  void add(const protocol::BuildCopyNodeRequest& request, std::span<const std::byte> tail);
  void add(const protocol::BuildEmptyNodeRequest& request, std::span<const std::byte> tail);

  // Nothing can be made of this build any more, for this reason.
  void fail(std::uint64_t build, hipError_t error);
  // That of its first kernel, else of its first fill; negative: there is none.
  int device_of(std::uint64_t build) const;
  // Both end the build, whatever the result. REQUIRES: device_of() is current. `device`: where the
  // program instantiates it.
  hipError_t instantiate(std::uint64_t exec, int device);
  hipError_t update(std::uint64_t exec, std::uint64_t built);
  hipError_t launch(std::uint64_t exec, hipStream_t stream);
  // Also for graphs that are still being built.
  hipError_t destroy(std::uint64_t exec);
  // The array whose first level stands at `base` is about to end. Graphs that name it cannot be launched any
  // more, except after an update: hipErrorInvalidValue. REQUIRES: its device is idle.
  void forget_array(std::uint64_t base);

 private:
  struct Size {
    std::size_t nodes = 0;
    std::size_t edges = 0;
    std::size_t bytes = 0;

    void add(const Size& other);
    void subtract(const Size& other);
  };
  struct Build {
    hipGraph_t graph = nullptr;
    std::vector<hipGraphNode_t> nodes;
    Size size;
    std::set<std::uint64_t> arrays;  // that its nodes name, by their first levels' bases
    int kernel_device = -1;          // of the first kernel
    int fill_device = -1;            // of the first fill of a device's memory
    hipError_t error = hipSuccess;   // the first
  };
  // Of an executable graph.
  struct Kept {
    Size size;
    std::set<std::uint64_t> arrays;
  };
  using Builds = std::map<std::uint64_t, Build>;

  // Finds the build of the next node, and the nodes it depends on. Null: impossible, and the build has
  // recorded why.
  Build* prepare(std::uint64_t exec, std::uint32_t dependencies, std::span<const std::byte> tail,
                 std::vector<hipGraphNode_t>& before);
  void finish(Build& build, hipError_t error, hipGraphNode_t node, const Size& added);
  // One end of the box is the session's memory, or in an array of the session.
  bool holds(const graph::Box& box, const graph::BoxSide& side) const;
  // The arrays that the box names.
  void note_arrays(Build& build, const graph::Box& box) const;
  // Destroys the runtime's graph, if there is still one.
  hipError_t end(const Object& exec);
  void drop(Builds::iterator build);
  void count(std::uint64_t exec, const Build& build);
  void discount(std::uint64_t exec);

  const protocol::HipTable& hip_;
  OwnCalls& own_calls_;
  const AddressMap& addresses_;
  const Arrays& arrays_;
  const HostParts& host_parts_;
  ObjectTable& objects_;  // kGraphExec are ours; null if an array that it names is gone
  Builds builds_;
  std::map<std::uint64_t, Kept> kept_;
  Size total_;  // builds and executable graphs
};

}  // namespace tf::worker
