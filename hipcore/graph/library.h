// SPDX-License-Identifier: Apache-2.0
// Library: HIP's graph functions, except for running graphs: graphs, nodes, captures, executable graphs.
//
// Our runtimes and the client share it, so that all answer alike. Each gives it a Side, which knows kernels
// and memory and runs plans. Functions have the arguments and results of the API's. Any thread; the Side is
// never called under the lock.
#pragma once

#include <hip/hip_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <unordered_map>
#include <vector>

#include "hipcore/abi/driver_copy.h"
#include "hipcore/graph/capture.h"
#include "hipcore/graph/graph.h"
#include "hipcore/graph/node_table.h"
#include "hipcore/graph/user_object.h"
#include "hipcore/graph/work.h"
#include "transport/base/mutex.h"

namespace tf::graph {

inline constexpr std::size_t kGraphsMax = 1 << 16;
inline constexpr std::size_t kExecsMax = 1 << 16;
inline constexpr std::size_t kUserObjectsMax = 1 << 20;

// A plan that a Side is ready to run. Thread-safe.
class Executable {
 public:
  virtual ~Executable() = default;
  virtual hipError_t launch(const StreamRef& stream) = 0;
  // REQUIRES: compare() accepted the plan.
  virtual hipError_t update(const Plan& plan) = 0;
  // Calls it when all launches so far have ended: at once, or later on a thread of HIP's.
  virtual void when_done(std::function<void()> call) = 0;
};

class Side {
 public:
  virtual ~Side() = default;
  virtual hipError_t describe(const void* function, KernelFacts& facts) = 0;
  // A variable of the program, on the current device.
  virtual hipError_t find_symbol(const void* symbol, std::byte*& address, std::size_t& bytes) = 0;
  // Whether this would be accepted now: shapes, memory, events.
  virtual hipError_t check(const Work& work) = 0;
  virtual hipError_t instantiate(const Plan& plan, std::shared_ptr<Executable>& executable) = 0;
  // The arrays that copies may name. Asked under the lock too.
  virtual const array::Finder& arrays() const = 0;
  // Memory of a device; given back as by hipFree, that is, after all work so far.
  virtual hipError_t allocate(int device, std::size_t bytes, std::byte*& address) = 0;
  virtual void release(int device, std::byte* address) = 0;
  virtual int device_count() = 0;
};

class Library {
 public:
  using Verdict = Captures::Verdict;

  explicit Library(Side& side) : side_(side), captures_(nodes_) {}
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;

  // --- graphs
  hipError_t create(hipGraph_t* graph, unsigned flags);
  hipError_t destroy(hipGraph_t graph);
  hipError_t clone(hipGraph_t* copy, hipGraph_t graph);
  hipError_t get_nodes(hipGraph_t graph, hipGraphNode_t* nodes, std::size_t* count);
  hipError_t get_roots(hipGraph_t graph, hipGraphNode_t* nodes, std::size_t* count);
  hipError_t get_edges(hipGraph_t graph, hipGraphNode_t* from, hipGraphNode_t* to, std::size_t* count);
  hipError_t add_edges(hipGraph_t graph, const hipGraphNode_t* from, const hipGraphNode_t* to,
                       std::size_t count);
  hipError_t remove_edges(hipGraph_t graph, const hipGraphNode_t* from, const hipGraphNode_t* to,
                          std::size_t count);

  // Writes the graph as Graphviz text to the file `path`.
  hipError_t print(hipGraph_t graph, const char* path);

  // --- nodes
  hipError_t add(hipGraphNode_t* node, hipGraph_t graph, const hipGraphNode_t* dependencies,
                 std::size_t count, Work work);
  hipError_t add_kernel(hipGraphNode_t* node, hipGraph_t graph, const hipGraphNode_t* dependencies,
                        std::size_t count, const hipKernelNodeParams* parameters);
  hipError_t add_copy(hipGraphNode_t* node, hipGraph_t graph, const hipGraphNode_t* dependencies,
                      std::size_t count, const hipMemcpy3DParms* parameters);
  hipError_t add_copy_1d(hipGraphNode_t* node, hipGraph_t graph, const hipGraphNode_t* dependencies,
                         std::size_t count, void* target, const void* source, std::size_t bytes,
                         hipMemcpyKind kind);
  hipError_t add_symbol_copy(hipGraphNode_t* node, hipGraph_t graph, const hipGraphNode_t* dependencies,
                             std::size_t count, bool to_symbol, const void* symbol, const void* other,
                             std::size_t bytes, std::size_t offset, hipMemcpyKind kind);
  hipError_t add_fill(hipGraphNode_t* node, hipGraph_t graph, const hipGraphNode_t* dependencies,
                      std::size_t count, const hipMemsetParams* parameters);
  hipError_t add_host(hipGraphNode_t* node, hipGraph_t graph, const hipGraphNode_t* dependencies,
                      std::size_t count, const hipHostNodeParams* parameters);
  hipError_t add_event(hipGraphNode_t* node, hipGraph_t graph, const hipGraphNode_t* dependencies,
                       std::size_t count, hipEvent_t event, bool record);
  hipError_t add_child(hipGraphNode_t* node, hipGraph_t graph, const hipGraphNode_t* dependencies,
                       std::size_t count, hipGraph_t child);
  hipError_t destroy_node(hipGraphNode_t node);
  hipError_t get_type(hipGraphNode_t node, hipGraphNodeType* type);
  hipError_t get_dependencies(hipGraphNode_t node, hipGraphNode_t* nodes, std::size_t* count);
  hipError_t get_dependents(hipGraphNode_t node, hipGraphNode_t* nodes, std::size_t* count);
  hipError_t find_in_clone(hipGraphNode_t* node, hipGraphNode_t original, hipGraph_t copy);
  hipError_t get_child(hipGraphNode_t node, hipGraph_t* graph);

  hipError_t get_kernel(hipGraphNode_t node, hipKernelNodeParams* parameters);
  hipError_t get_copy(hipGraphNode_t node, hipMemcpy3DParms* parameters);
  hipError_t get_fill(hipGraphNode_t node, hipMemsetParams* parameters);
  hipError_t get_host(hipGraphNode_t node, hipHostNodeParams* parameters);
  hipError_t get_event(hipGraphNode_t node, hipEvent_t* event, bool record);
  hipError_t get_attribute(hipGraphNode_t node, hipKernelNodeAttrID attribute, hipKernelNodeAttrValue* value);
  hipError_t set_attribute(hipGraphNode_t node, hipKernelNodeAttrID attribute,
                           const hipKernelNodeAttrValue* value);
  hipError_t copy_attributes(hipGraphNode_t from, hipGraphNode_t to);
  // Of a kernel, a copy or a fill in an executable graph. A disabled one does nothing.
  hipError_t set_enabled(hipGraphExec_t exec, hipGraphNode_t node, unsigned enabled);
  hipError_t get_enabled(hipGraphExec_t exec, hipGraphNode_t node, unsigned* enabled);
  // If `exec` is given, sets the parameters of its copy of the node, not the node's own.
  hipError_t set_kernel(hipGraphExec_t exec, hipGraphNode_t node, const hipKernelNodeParams* parameters);
  hipError_t set_copy(hipGraphExec_t exec, hipGraphNode_t node, const hipMemcpy3DParms* parameters);
  hipError_t set_copy_1d(hipGraphExec_t exec, hipGraphNode_t node, void* target, const void* source,
                         std::size_t bytes, hipMemcpyKind kind);
  hipError_t set_symbol_copy(hipGraphExec_t exec, hipGraphNode_t node, bool to_symbol, const void* symbol,
                             const void* other, std::size_t bytes, std::size_t offset, hipMemcpyKind kind);
  hipError_t set_fill(hipGraphExec_t exec, hipGraphNode_t node, const hipMemsetParams* parameters);
  hipError_t set_host(hipGraphExec_t exec, hipGraphNode_t node, const hipHostNodeParams* parameters);
  hipError_t set_event(hipGraphExec_t exec, hipGraphNode_t node, hipEvent_t event, bool record);
  hipError_t set_child(hipGraphExec_t exec, hipGraphNode_t node, hipGraph_t child);

  // --- nodes of every kind through one struct; `known_type`: a type of node by the program's number of it
  hipError_t add_any(hipGraphNode_t* node, hipGraph_t graph, const hipGraphNode_t* dependencies,
                     std::size_t count, hipGraphNodeParams* parameters, int (*known_type)(int));
  hipError_t set_any(hipGraphExec_t exec, hipGraphNode_t node, hipGraphNodeParams* parameters,
                     int (*known_type)(int));

  // --- nodes in the driver's style. The context makes no difference: addresses say which device they belong
  // to. Who adds a copy must name one nevertheless, as for AMD's runtime.
  hipError_t add_driver_copy(hipGraphNode_t* node, hipGraph_t graph, const hipGraphNode_t* dependencies,
                             std::size_t count, const abi::DriverCopy& parameters, hipCtx_t context);
  hipError_t set_driver_copy(hipGraphExec_t exec, hipGraphNode_t node, const abi::DriverCopy& parameters,
                             hipCtx_t context);
  hipError_t get_driver_copy(hipGraphNode_t node, HIP_MEMCPY3D* parameters,
                             void (*write)(const abi::DriverCopy&, HIP_MEMCPY3D&));
  hipError_t add_driver_fill(hipGraphNode_t* node, hipGraph_t graph, const hipGraphNode_t* dependencies,
                             std::size_t count, const hipMemsetParams& parameters, hipCtx_t context);
  hipError_t set_driver_fill(hipGraphExec_t exec, hipGraphNode_t node, const hipMemsetParams& parameters,
                             hipCtx_t context);

  // --- batches of stream operations
  hipError_t add_batch(hipGraphNode_t* node, hipGraph_t graph, const hipGraphNode_t* dependencies,
                       std::size_t count, const hipBatchMemOpNodeParams* parameters);
  hipError_t get_batch(hipGraphNode_t node, hipBatchMemOpNodeParams* parameters);
  hipError_t set_batch(hipGraphExec_t exec, hipGraphNode_t node, const hipBatchMemOpNodeParams* parameters);

  // --- semaphores of other APIs: hipExternalSemaphoreSignalNodeParams or -WaitNodeParams
  template <typename Parameters>
  hipError_t add_semaphores(hipGraphNode_t* node, hipGraph_t graph, const hipGraphNode_t* dependencies,
                            std::size_t count, const Parameters* parameters);
  template <typename Parameters>
  hipError_t get_semaphores(hipGraphNode_t node, Parameters* parameters);
  template <typename Parameters>
  hipError_t set_semaphores(hipGraphExec_t exec, hipGraphNode_t node, const Parameters* parameters);

  // --- memory of graphs
  hipError_t add_allocation(hipGraphNode_t* node, hipGraph_t graph, const hipGraphNode_t* dependencies,
                            std::size_t count, hipMemAllocNodeParams* parameters);
  hipError_t add_release(hipGraphNode_t* node, hipGraph_t graph, const hipGraphNode_t* dependencies,
                         std::size_t count, void* pointer);
  hipError_t get_allocation(hipGraphNode_t node, hipMemAllocNodeParams* parameters);
  hipError_t get_release(hipGraphNode_t node, void* pointer);
  hipError_t get_memory_attribute(int device, hipGraphMemAttributeType attribute, void* value);
  hipError_t set_memory_attribute(int device, hipGraphMemAttributeType attribute, void* value);
  // Does nothing: what no graph needs has been given back before.
  hipError_t trim_memory(int device);
  // hipFree and hipFreeAsync. Nothing: it is not memory of a graph. One load while there is no such memory.
  Verdict free_memory(void* pointer) { return has_blocks() ? free_block(pointer) : std::nullopt; }
  // hipMallocAsync and hipFreeAsync on a stream that may be captured.
  Verdict capture_allocation(const StreamRef& stream, int device, std::size_t bytes, void** pointer);
  Verdict capture_release(const StreamRef& stream, void* pointer);

  // --- user objects: more references than an owner has are as many as it has; an object that is gone is left
  // alone, successfully (both as AMD's runtime)
  hipError_t create_object(hipUserObject_t* object, void* data, hipHostFn_t destructor, unsigned count,
                           unsigned flags);
  hipError_t retain_object(hipUserObject_t object, unsigned count);
  hipError_t release_object(hipUserObject_t object, unsigned count);
  hipError_t retain_object(hipGraph_t graph, hipUserObject_t object, unsigned count, unsigned flags);
  hipError_t release_object(hipGraph_t graph, hipUserObject_t object, unsigned count);

  // --- executable graphs
  hipError_t instantiate(hipGraphExec_t* exec, hipGraph_t graph, hipGraphNode_t* error_node, char* log,
                         std::size_t log_bytes);
  hipError_t instantiate(hipGraphExec_t* exec, hipGraph_t graph, unsigned long long flags);
  hipError_t instantiate(hipGraphExec_t* exec, hipGraph_t graph, hipGraphInstantiateParams* parameters);
  hipError_t get_flags(hipGraphExec_t exec, unsigned long long* flags);
  hipError_t update(hipGraphExec_t exec, hipGraph_t graph, hipGraphNode_t* error_node,
                    hipGraphExecUpdateResult* result);
  hipError_t launch(hipGraphExec_t exec, const StreamRef& stream);
  // Does nothing: instantiation prepares everything.
  hipError_t upload(hipGraphExec_t exec);
  hipError_t destroy(hipGraphExec_t exec);

  // --- capture: relaxed load; nothing below concerns a call while it says no
  // Unchecked, since any() reads an atomic.
  bool capturing() const TF_UNCHECKED { return captures_.any(); }
  hipError_t begin_capture(const StreamRef& stream, hipStreamCaptureMode mode);
  // Into a graph of the program, behind these of its nodes. Edges have no data.
  hipError_t begin_capture(const StreamRef& stream, hipStreamCaptureMode mode, hipGraph_t graph,
                           const hipGraphNode_t* dependencies, const hipGraphEdgeData* edges,
                           std::size_t count);
  hipError_t end_capture(const StreamRef& stream, hipGraph_t* graph);
  hipError_t capture_info(const StreamRef& stream, hipStreamCaptureStatus* status, unsigned long long* id,
                          hipGraph_t* graph, const hipGraphNode_t** dependencies, std::size_t* count);
  hipError_t update_capture(const StreamRef& stream, hipGraphNode_t* nodes, std::size_t count,
                            unsigned flags);
  // Exchanges the thread's mode, which its Side keeps: see Captures::refuse_unsafe().
  static hipError_t exchange_mode(hipStreamCaptureMode& kept, hipStreamCaptureMode* mode);

  // See Captures. The Side checks capturing() first.
  Verdict capture(const StreamRef& stream, Work work);
  Verdict capture_record(const StreamRef& stream, std::uint64_t event);
  Verdict capture_wait(const StreamRef& stream, std::uint64_t event);
  Verdict refuse(const StreamRef& stream);
  Verdict refuse_event(std::uint64_t event);
  Verdict refuse_device(int device);
  Verdict refuse_unsafe(hipStreamCaptureMode mode);
  Verdict refuse_wait(const StreamRef& stream, hipStreamCaptureMode mode);
  void forget_stream(std::uint64_t stream);
  void forget_event(std::uint64_t event);

 private:
  struct Exec {
    std::unique_ptr<Graph> graph;  // as instantiated and updated
    Plan plan;
    std::shared_ptr<Executable> executable;
    unsigned long long flags = 0;
    std::vector<MemoryStep> memory;    // of the plan
    std::shared_ptr<const void> mark;  // of its blocks
  };
  // What a launch has changed, in that order: the blocks, and whether they were allocated before.
  using Bookings = std::vector<std::pair<std::shared_ptr<Block>, bool>>;
  using Objects = std::vector<std::shared_ptr<UserObject>>;
  // What has to be destroyed without the lock: declared before that is taken.
  using Remains = std::vector<std::shared_ptr<void>>;
  struct KnownObject {
    std::weak_ptr<UserObject> object;
    References program;  // the program's own
  };

  Graph* find(hipGraph_t graph) const TF_REQUIRES(mutex_);
  std::shared_ptr<Exec> find(hipGraphExec_t exec) const TF_REQUIRES(mutex_);
  bool find_nodes(const hipGraphNode_t* handles, std::size_t count, const Graph* graph,
                  std::vector<Node*>& nodes) const TF_REQUIRES(mutex_);
  bool enter(Graph& graph) TF_REQUIRES(mutex_);
  void erase(Graph& graph, Remains& remains) TF_REQUIRES(mutex_);
  // Whether a stream is captured into it. A graph inside a graph is owned, too.
  bool is_captured(const Graph& graph) const TF_REQUIRES(mutex_) {
    return graph.given || (graph.owned && !children_.contains(graph.id));
  }
  // No stream is captured into it any more.
  void release(Graph& graph) TF_REQUIRES(mutex_);
  // What a capture that has failed leaves.
  void abandon(Graph& graph, Remains& remains) TF_REQUIRES(mutex_);
  void forget_child(const Work& work) TF_REQUIRES(mutex_);
  Node* copy_of(const Exec& exec, hipGraphNode_t node) const TF_REQUIRES(mutex_);

  // These take the lock themselves.
  hipError_t make_kernel(const hipKernelNodeParams* parameters, Work& work);
  hipError_t make_symbol_copy(bool to_symbol, const void* symbol, const void* other, std::size_t bytes,
                              std::size_t offset, hipMemcpyKind kind, Work& work);
  hipError_t make_child(hipGraph_t child, Work& work);
  template <typename Kind, typename Read>
  hipError_t get(hipGraphNode_t node, Read read);
  hipError_t set(hipGraphExec_t exec, hipGraphNode_t node, Work work);
  hipError_t set_in_exec(hipGraphExec_t exec, hipGraphNode_t node, SharedWork work);
  // Gives the exec's node other work, and switches it on or off; returns what it had. All or nothing.
  hipError_t exchange(Exec& exec, Node& copy, SharedWork& work, bool& enabled) TF_REQUIRES(change_mutex_);
  hipError_t replace(hipGraphExec_t exec, hipGraph_t graph, hipGraphNode_t& error_node,
                     hipGraphExecUpdateResult& result, std::shared_ptr<Exec>& found,
                     std::unique_ptr<Graph>& copy);
  // Takes no lock. The program's code may run, so call it without any.
  static void end_behind_launches(Exec& exec, Objects objects);
  static const KernelWork* kernel_of(const Node* node);  // null: none, or another kind of node
  void keep_attributes(hipGraphExec_t exec, hipGraphNode_t node, KernelWork& work) const;
  bool has_blocks() const { return block_count_.load(std::memory_order_relaxed) != 0; }
  hipError_t make_exec(hipGraphExec_t* exec, hipGraph_t graph, unsigned long long flags);
  hipError_t make_block(int device, std::size_t bytes, std::shared_ptr<Block>& block);
  Verdict free_block(void* pointer);
  std::shared_ptr<Block> find_block(const void* pointer) const TF_REQUIRES(mutex_);
  hipError_t claim_blocks(Exec& exec) TF_REQUIRES(mutex_);
  hipError_t run_memory(const Exec& exec, Bookings& bookings, Remains& remains) TF_REQUIRES(mutex_);
  // The launch has failed. High-water marks stay.
  void undo_memory(const Bookings& bookings, Remains& remains) TF_REQUIRES(mutex_);
  void set_allocated(const std::shared_ptr<Block>& block, bool allocated, Remains& remains)
      TF_REQUIRES(mutex_);
  // False: it was never made. Its object is null if it is gone.
  bool find_object(hipUserObject_t object, KnownObject*& known, std::shared_ptr<UserObject>& alive)
      TF_REQUIRES(mutex_);
  // The exec's copy of a node that can be disabled; null: there is none.
  Node* switchable(const Exec* exec, hipGraphNode_t node) const TF_REQUIRES(mutex_);

  Side& side_;
  // Blocks that live. Relaxed: who frees a block has its address from a call that counted it. Stands before
  // everything that holds blocks, which count themselves off.
  std::atomic<std::size_t> block_count_{0};
  mutable Mutex mutex_;
  Mutex change_mutex_;  // executable graphs are changed one at a time; taken before mutex_
  NodeTable nodes_ TF_GUARDED_BY(mutex_);
  std::unordered_map<std::uint64_t, std::unique_ptr<Graph>> graphs_ TF_GUARDED_BY(mutex_);
  std::unordered_map<std::uint64_t, std::shared_ptr<Graph>> children_
      TF_GUARDED_BY(mutex_);  // those the program asked for
  std::unordered_map<std::uint64_t, std::shared_ptr<Exec>> execs_ TF_GUARDED_BY(mutex_);
  Captures captures_ TF_GUARDED_BY(mutex_);
  std::unordered_map<std::uint64_t, KnownObject> objects_ TF_GUARDED_BY(mutex_);
  std::size_t objects_swept_ TF_GUARDED_BY(mutex_) = 0;  // how many there were after the last sweep
  std::map<std::uintptr_t, std::weak_ptr<Block>> blocks_ TF_GUARDED_BY(mutex_);  // by address
  std::size_t blocks_swept_ TF_GUARDED_BY(mutex_) = 0;  // how many there were after the last sweep
  std::map<std::uintptr_t, std::shared_ptr<Block>> allocated_ TF_GUARDED_BY(mutex_);
  std::map<int, MemoryAccount> accounts_ TF_GUARDED_BY(mutex_);  // by device
  std::uint64_t next_ TF_GUARDED_BY(mutex_) = 1;
};

template <typename Kind, typename Read>
hipError_t Library::get(hipGraphNode_t node, Read read) {
  const MutexLock lock(mutex_);
  const Node* found = nodes_.find(node);
  const auto* work = found != nullptr ? std::get_if<Kind>(found->work.get()) : nullptr;
  return work != nullptr ? read(*work) : hipErrorInvalidValue;
}

}  // namespace tf::graph
