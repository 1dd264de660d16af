// SPDX-License-Identifier: Apache-2.0
// ModuleCache: the modules of a session. Loads code objects (their bytes travel only if the worker does not
// have them), and remembers functions and variables, so that each is asked for once.
//
// Any thread. Loads of one registered fat binary on one device happen once; other threads wait for it.
#pragma once

#include <hip/hip_runtime_api.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "proxy/base/handles.h"
#include "proxy/module/code_image.h"
#include "proxy/session/connection.h"
#include "transport/base/mutex.h"

namespace tf::proxy {

struct DeviceVariable {
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
};

// Learns where the variables of loaded modules are, and when they end.
class DeviceVariables {
 public:
  virtual void add_variable(int device, std::uint64_t address, std::uint64_t bytes) = 0;
  virtual void remove_variable(std::uint64_t address) = 0;
  // Before the worker hears of it.
  virtual void unloading(std::uint64_t module) = 0;
  // Managed memory for a variable of a module, with what lies at `initial` on the device.
  virtual hipError_t make_managed(int device, std::uint64_t initial, std::uint64_t bytes,
                                  std::uint64_t& address) = 0;
  // REQUIRES: the module has been unloaded
  virtual void remove_managed(std::uint64_t address) = 0;

 protected:
  ~DeviceVariables() = default;
};

// What we know about a module.
struct ModuleFacts final : Facts {
  int device = 0;
  std::shared_ptr<const CodeImage> image;
  Mutex mutex;
  std::map<std::string, std::uint64_t, std::less<>> functions TF_GUARDED_BY(mutex);  // name -> handle
  std::map<std::string, DeviceVariable, std::less<>> variables TF_GUARDED_BY(mutex);
  // Managed variables of a module that the program loads, which have memory of their own.
  std::map<std::string, DeviceVariable, std::less<>> managed TF_GUARDED_BY(mutex);
};

struct FunctionFacts final : Facts {
  int device = 0;
  std::uint64_t module = 0;
  std::shared_ptr<const KernelLayout> layout;
  // What hipFuncSetAttribute asked for, in bytes; -1: nothing. Relaxed: a number that only queries read.
  mutable std::atomic<int> dynamic_shared_limit{-1};
};

// How many functions' facts of unloaded modules are kept, for threads that still read them.
inline constexpr std::size_t kFactsKept = 1024;

class ModuleCache {
 public:
  ModuleCache(Connection& connection, const protocol::WorkerSnapshot& snapshot, DeviceVariables& variables);

  hipError_t load(int device, const void* image, std::uint64_t& module);
  // The same for an image of known length: reads nothing outside it.
  hipError_t load(int device, std::span<const std::byte> whole, std::uint64_t& module);
  hipError_t unload(std::uint64_t module);
  hipError_t function(std::uint64_t module, std::string_view name, std::uint64_t& function);
  hipError_t function_count(std::uint64_t module, unsigned& count);
  hipError_t variable(std::uint64_t module, std::string_view name, DeviceVariable& variable);

  // Look up what the compiler registered.
  hipError_t registered_function(int device, const void* host_function, std::uint64_t& function);
  hipError_t registered_variable(int device, const void* symbol, DeviceVariable& variable);
  // A library with registered kernels was unloaded: other code may get its stubs' addresses.
  void forget_registered();
  std::shared_ptr<const FunctionFacts> facts(std::uint64_t function) const;
  // For launches, which are frequent: takes no lock and counts no reference. Valid until the module is
  // unloaded, which a program must not do while it launches; one that does reads the facts of the last
  // kFactsKept unloaded functions.
  const FunctionFacts* borrow_facts(std::uint64_t function) const;

 private:
  const char* target_of(int device) const;
  // Makes the facts of an image of the program.
  hipError_t read(int device, const void* image, std::shared_ptr<ModuleFacts>& facts);
  hipError_t load(const std::shared_ptr<ModuleFacts>& facts, std::uint64_t& module);
  // The same for a module that the program loads.
  hipError_t load_with_managed(const std::shared_ptr<ModuleFacts>& facts, std::uint64_t& module);
  hipError_t place_managed(ModuleFacts& facts, std::uint64_t module,
                           const codeobject::ManagedVariable& variable);
  // Kernels of the module find its managed variable in this memory.
  hipError_t bind_managed(int device, std::uint64_t module, std::string_view name, std::uint64_t address);
  // Creates the function in the worker, without a round trip if it is known to be in the module.
  hipError_t make_function(const ModuleFacts& module, std::uint64_t handle, std::uint64_t function,
                           std::string_view name, bool is_known);
  // Asks the worker for what the code object does not describe.
  hipError_t describe(const ModuleFacts& module, std::uint64_t function, std::string_view name,
                      std::shared_ptr<const KernelLayout>& described);
  hipError_t send_code(int device, std::uint64_t module, const CodeImage& image);
  void retire_content(ModuleFacts& module, std::vector<std::uint64_t>& gone,
                      std::vector<std::uint64_t>& managed);
  hipError_t find_registered(int device, const void* host_function, std::uint64_t& function);
  hipError_t registered_module(int device, std::size_t binary, const void* wrapper, std::uint64_t& module);

  Connection& connection_;
  const protocol::WorkerSnapshot& snapshot_;
  DeviceVariables& variables_;
  Mutex load_mutex_;  // one registered load at a time
  struct RegisteredModule {
    std::uint64_t module = 0;
    std::size_t bound = 0;  // how many of the binary's managed variables it has been told of
  };
  hipError_t bind_registered(int device, std::size_t binary, RegisteredModule& module)
      TF_REQUIRES(load_mutex_);
  std::map<std::pair<std::size_t, int>, RegisteredModule> registered_
      TF_GUARDED_BY(load_mutex_);  // {fat binary, device}
  mutable SharedMutex function_mutex_;
  std::map<std::pair<const void*, int>, std::uint64_t> by_host_function_ TF_GUARDED_BY(function_mutex_);
  // The epoch of registrations (see next_epoch()). Relaxed: a program that unregisters while another thread
  // launches must synchronise the two itself.
  std::atomic<std::uint64_t> epoch_;
  Mutex retired_mutex_;
  std::deque<std::shared_ptr<Facts>> retired_ TF_GUARDED_BY(retired_mutex_);  // the last kFactsKept
};

}  // namespace tf::proxy
