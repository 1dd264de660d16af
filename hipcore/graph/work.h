// SPDX-License-Identifier: Apache-2.0
// Work: what one node of a graph does. Immutable and shared: a node with new parameters gets a new Work, so
// executable graphs keep the one they were built with.
#pragma once

#include <hip/hip_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <variant>
#include <vector>

#include "hipcore/array/place.h"
#include "hipcore/graph/block.h"
#include "hipcore/graph/box.h"
#include "hipcore/newer/hip_types.h"

namespace tf::graph {

class Graph;

struct EmptyWork {};

// One argument in the block that a kernel reads.
struct Argument {
  std::uint32_t offset_bytes = 0;
  std::uint32_t size_bytes = 0;
};

// What we must know about a kernel to read its arguments.
struct KernelFacts {
  hipFunction_t resolved = nullptr;
  std::vector<Argument> arguments;
  std::size_t argument_bytes = 0;
};

// Attributes of a kernel's node that change no result: kept, copied and returned.
struct KernelHints {
  hipAccessPolicyWindow window{};
  int priority = 0;
};

struct KernelWork {
  const void* function = nullptr;    // as the program named it: a host stub or a hipFunction_t
  hipFunction_t resolved = nullptr;  // what that resolved to, on the device current then
  std::uint32_t grid[3] = {1, 1, 1};
  std::uint32_t threads[3] = {1, 1, 1};
  std::uint32_t shared_bytes = 0;
  int cooperative = 0;  // the attribute as the program set it; not 0: it is
  KernelHints hints;
  std::vector<std::byte> block;     // the arguments, laid out
  std::vector<Argument> arguments;  // where they are in it
};

struct CopyWork : Box {
  hipMemcpyKind kind = hipMemcpyDefault;
  hipGraphNodeType type = hipGraphNodeTypeMemcpy1D;  // as it was made
  std::shared_ptr<const hipMemcpy3DParms> asked{};   // as the program gave them, if it did
};

struct FillWork {
  std::byte* target = nullptr;
  std::uint32_t value = 0;
  std::uint32_t element_bytes = 1;
  std::size_t width = 0;  // bytes in a row
  std::size_t height = 1;
  std::size_t pitch = 0;
  std::size_t asked_pitch = 0;  // the program's, which means nothing for one row
};

struct HostWork {
  hipHostFn_t function = nullptr;
  void* data = nullptr;
};

struct EventWork {
  hipEvent_t event = nullptr;
  bool record = false;  // else waits
};

struct ChildWork {
  std::shared_ptr<Graph> graph;  // a copy of its own
};

struct AllocationWork {
  std::shared_ptr<Block> block;
  hipMemPoolProps properties{};  // as the program gave them
  std::vector<hipMemAccessDesc> access;
};

struct ReleaseWork {
  std::shared_ptr<Block> block;
  std::shared_ptr<const void> mark;  // while it lives, no other node may free the block
};

// Waits for values in memory and writes of them, one after the other.
struct BatchWork {
  hipCtx_t context = nullptr;  // as the program gave it; addresses say which device they belong to
  std::vector<hipStreamBatchMemOpParams> operations;  // possible ones (hipcore/newer/batch.h)
};

// No semaphore of another API is ever imported, so the node names none.
struct SemaphoreWork {
  bool signal = false;  // else waits
};

using Work = std::variant<EmptyWork, KernelWork, CopyWork, FillWork, HostWork, EventWork, ChildWork,
                          AllocationWork, ReleaseWork, BatchWork, SemaphoreWork>;
using SharedWork = std::shared_ptr<const Work>;

// Of hipGraphNodeType, or of the types of nodes that later versions of HIP have (hipcore/abi/layouts.h).
int type_of(const Work& work);
// Whether one may replace the other in a node: parameters may change, the kind of node never does. All copies
// are one kind.
bool same_kind(const Work& one, const Work& other);
// False for two copies that do not go the same way.
bool same_direction(const Work& one, const Work& other);

// Convert the API's parameters to work and back. hipErrorInvalidValue: they make no sense.
hipError_t read_kernel(const hipKernelNodeParams& parameters, const KernelFacts& facts, KernelWork& work);
// The arguments are copied to `shown`, with one pointer to each. The program may change both as it likes.
struct ShownArguments {
  std::vector<std::byte> block;
  std::vector<void*> pointers;
};
void write_kernel(const KernelWork& work, ShownArguments& shown, hipKernelNodeParams& parameters);
hipError_t read_copy(const hipMemcpy3DParms& parameters, const array::Finder& arrays, CopyWork& work);
void write_copy(const CopyWork& work, const array::Finder& arrays, hipMemcpy3DParms& parameters);
// The side of a box at this position of an array. hipErrorInvalidValue: the box is not inside the array, or
// not made of whole elements.
hipError_t stand_in(const array::Place& place, const BoxPosition& position, const Box& box, BoxSide& side);
// Whether an array can be the target, or else the source, of such a copy.
bool may_be_array(bool target, hipMemcpyKind kind);
// What a copy of the program is in a graph.
CopyWork copy_work(const Box& box, hipMemcpyKind kind);
hipError_t read_copy_1d(void* target, const void* source, std::size_t bytes, hipMemcpyKind kind,
                        CopyWork& work);
// To (or from) `symbol`, which is `symbol_bytes` long, at `offset`.
hipError_t read_copy_symbol(bool to_symbol, std::byte* symbol, std::size_t symbol_bytes, const void* other,
                            std::size_t bytes, std::size_t offset, hipMemcpyKind kind, CopyWork& work);
hipError_t read_fill(const hipMemsetParams& parameters, FillWork& work);
void write_fill(const FillWork& work, hipMemsetParams& parameters);

}  // namespace tf::graph
