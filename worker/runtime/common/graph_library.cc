// SPDX-License-Identifier: Apache-2.0
// Connects the graph library to a runtime: the Backend provides kernels, memory and events of graphs, and
// runs them.
#include "worker/runtime/common/graph_library.h"

#include "worker/runtime/common/arrays.h"
#include "worker/runtime/common/on_device.h"
#include "worker/runtime/common/programs.h"

namespace tf::runtime {

namespace internal {
constinit std::atomic<graph::Library*> graph_library{nullptr};
}

namespace {

class Graphs final : private graph::Side {
 public:
  Graphs() : library_(*this) { internal::graph_library.store(&library_, std::memory_order_release); }

  graph::Library& library() { return library_; }

 private:
  hipError_t describe(const void* named, graph::KernelFacts& facts) override {
    return Backend::describe_kernel(named, facts);
  }
  hipError_t find_symbol(const void* symbol, std::byte*& address, std::size_t& bytes) override {
    void* found = nullptr;
    const hipError_t status = find_variable(symbol, found, bytes);
    address = static_cast<std::byte*>(found);
    return status;
  }
  hipError_t check(const graph::Work& work) override { return Backend::check_work(work); }
  hipError_t instantiate(const graph::Plan& plan, std::shared_ptr<graph::Executable>& executable) override {
    return Backend::instantiate(plan, executable);
  }
  const array::Finder& arrays() const override { return runtime::arrays(); }
  hipError_t allocate(int device, std::size_t bytes, std::byte*& address) override {
    void* made = nullptr;
    const hipError_t status =
        on_device(device, [&] { return Backend::allocate(made, bytes, hipDeviceMallocDefault); });
    address = static_cast<std::byte*>(made);
    return status;
  }
  // Fails only where the device has failed, or its context is gone, and the memory with it.
  void release(int device, std::byte* address) override {
    static_cast<void>(on_device(device, [&] { return Backend::free(address); }));
  }
  int device_count() override { return Backend::device_count(); }

  graph::Library library_;
};

}  // namespace

graph::Library& graphs() {
  static Graphs* const all = new Graphs;
  return all->library();
}

}  // namespace tf::runtime
