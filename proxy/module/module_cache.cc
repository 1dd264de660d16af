// SPDX-License-Identifier: Apache-2.0
// Loads modules at the worker, and remembers their functions and variables.
#include "proxy/module/module_cache.h"

#include <utility>

#include "proxy/base/thread_state.h"
#include "proxy/module/registry.h"
#include "proxy/session/payload.h"
#include "transport/base/mutex.h"

namespace tf::proxy {
namespace {

using protocol::HandleKind;

std::span<const std::byte> text(std::string_view name) { return std::as_bytes(std::span(name)); }

}  // namespace

ModuleCache::ModuleCache(Connection& connection, const protocol::WorkerSnapshot& snapshot,
                         DeviceVariables& variables)
    : connection_(connection), snapshot_(snapshot), variables_(variables), epoch_(next_epoch()) {}

const char* ModuleCache::target_of(int device) const {
  return snapshot_.devices[static_cast<std::size_t>(device)].properties.gcn_arch_name.c_str();
}

hipError_t ModuleCache::read(int device, const void* image, std::shared_ptr<ModuleFacts>& facts) {
  facts = std::make_shared<ModuleFacts>();
  facts->device = device;
  return CodeImage::read(image, target_of(device), facts->image);
}

hipError_t ModuleCache::load(int device, const void* image, std::uint64_t& module) {
  std::shared_ptr<ModuleFacts> facts;
  const hipError_t error = read(device, image, facts);
  return error == hipSuccess ? load_with_managed(facts, module) : error;
}

hipError_t ModuleCache::load(int device, std::span<const std::byte> whole, std::uint64_t& module) {
  auto facts = std::make_shared<ModuleFacts>();
  facts->device = device;
  hipError_t error = CodeImage::read(whole, target_of(device), facts->image);
  return error == hipSuccess ? load_with_managed(facts, module) : error;
}

hipError_t ModuleCache::load_with_managed(const std::shared_ptr<ModuleFacts>& facts, std::uint64_t& module) {
  std::uint64_t made = 0;
  if (const hipError_t error = load(facts, made); error != hipSuccess) return error;
  for (const codeobject::ManagedVariable& variable : facts->image->managed_variables()) {
    const hipError_t error = place_managed(*facts, made, variable);
    if (error == hipSuccess) continue;
    static_cast<void>(unload(made));
    return error;
  }
  module = made;
  return hipSuccess;
}

hipError_t ModuleCache::place_managed(ModuleFacts& facts, std::uint64_t module,
                                      const codeobject::ManagedVariable& variable) {
  DeviceVariable initial;
  hipError_t error = this->variable(module, variable.initial, initial);
  std::uint64_t address = 0;
  if (error == hipSuccess)
    error = variables_.make_managed(facts.device, initial.address, initial.bytes, address);
  if (error != hipSuccess) return error;
  {
    const MutexLock lock(facts.mutex);
    facts.managed.emplace(variable.name, DeviceVariable{address, initial.bytes});
  }
  return bind_managed(facts.device, module, variable.name, address);
}

hipError_t ModuleCache::bind_managed(int device, std::uint64_t module, std::string_view name,
                                     std::uint64_t address) {
  protocol::BindManagedRequest request{};
  request.module = module;
  request.address = address;
  return connection_.post(device, request, text(name));
}

hipError_t ModuleCache::load(const std::shared_ptr<ModuleFacts>& facts, std::uint64_t& module) {
  HandleTable& modules = connection_.handles().of(HandleKind::kModule);
  auto handle = modules.create(facts->device, facts);
  if (!handle) return hipErrorOutOfMemory;
  hipError_t error = send_code(facts->device, handle->raw(), *facts->image);
  if (error != hipSuccess) {
    modules.remove(handle->raw());
    return error;
  }
  module = handle->raw();
  return hipSuccess;
}

hipError_t ModuleCache::send_code(int device, std::uint64_t module, const CodeImage& image) {
  protocol::ProbeModuleRequest probe{};
  probe.hash_low = image.hash().low;
  probe.hash_high = image.hash().high;
  probe.bytes = image.bytes().size();
  protocol::ProbeModuleReply known{};
  if (hipError_t error = connection_.call(device, probe, known); error != hipSuccess) return error;
  protocol::LoadModuleRequest load{};
  load.module = module;
  load.hash_low = probe.hash_low;
  load.hash_high = probe.hash_high;
  load.bytes = probe.bytes;
  return known.have != 0 ? connection_.call(device, load)
                         : call_with_payload(connection_, device, load, image.bytes());
}

hipError_t ModuleCache::unload(std::uint64_t module) {
  HandleTable& modules = connection_.handles().of(HandleKind::kModule);
  auto facts = std::dynamic_pointer_cast<ModuleFacts>(modules.facts(module));
  if (facts == nullptr || !modules.retire(module)) return hipErrorInvalidValue;
  variables_.unloading(module);
  std::vector<std::uint64_t> gone;
  std::vector<std::uint64_t> managed;
  retire_content(*facts, gone, managed);
  protocol::UnloadModuleRequest request{};
  request.module = module;
  hipError_t error = connection_.post(facts->device, request);
  // Not earlier: the next user of the slots must come after the worker has released them.
  modules.recycle(module);
  for (std::uint64_t function : gone) connection_.handles().of(HandleKind::kFunction).recycle(function);
  for (const std::uint64_t address : managed) variables_.remove_managed(address);
  return error;
}

// Functions and variables of a module that is being unloaded.
void ModuleCache::retire_content(ModuleFacts& module, std::vector<std::uint64_t>& gone,
                                 std::vector<std::uint64_t>& managed) {
  HandleTable& functions = connection_.handles().of(HandleKind::kFunction);
  const MutexLock lock(module.mutex);
  const MutexLock retired_lock(retired_mutex_);
  for (const auto& [name, function] : module.functions) {
    retired_.push_back(functions.facts(function));
    if (retired_.size() > kFactsKept) retired_.pop_front();
    if (functions.retire(function)) gone.push_back(function);
  }
  for (const auto& [name, variable] : module.variables) variables_.remove_variable(variable.address);
  for (const auto& [name, variable] : std::exchange(module.managed, {})) managed.push_back(variable.address);
}

hipError_t ModuleCache::function(std::uint64_t module, std::string_view name, std::uint64_t& function) {
  auto facts =
      std::dynamic_pointer_cast<ModuleFacts>(connection_.handles().of(HandleKind::kModule).facts(module));
  if (facts == nullptr) return hipErrorInvalidValue;
  const MutexLock lock(facts->mutex);
  if (auto known = facts->functions.find(name); known != facts->functions.end()) {
    function = known->second;
    return hipSuccess;
  }
  auto made = std::make_shared<FunctionFacts>();
  made->device = facts->device;
  made->module = module;
  made->layout = facts->image->kernel(name);
  if (made->layout == nullptr && facts->image->describes_kernels()) return hipErrorNotFound;
  HandleTable& functions = connection_.handles().of(HandleKind::kFunction);
  auto handle = functions.create(facts->device, made);
  if (!handle) return hipErrorOutOfMemory;
  hipError_t error = make_function(*facts, module, handle->raw(), name, made->layout != nullptr);
  if (error != hipSuccess) {
    functions.remove(handle->raw());
    return error;
  }
  if (made->layout == nullptr) error = describe(*facts, handle->raw(), name, made->layout);
  if (error != hipSuccess) {
    functions.retire(handle->raw());  // the worker has it: its slot stays in use
    return error;
  }
  facts->functions.emplace(name, handle->raw());
  function = handle->raw();
  return hipSuccess;
}

hipError_t ModuleCache::function_count(std::uint64_t module, unsigned& count) {
  const auto facts =
      std::dynamic_pointer_cast<ModuleFacts>(connection_.handles().of(HandleKind::kModule).facts(module));
  if (facts == nullptr) return hipErrorInvalidHandle;
  if (facts->image->describes_kernels()) {
    count = static_cast<unsigned>(facts->image->kernel_count());
    return hipSuccess;
  }
  protocol::CountFunctionsRequest request{};
  request.module = module;
  protocol::CountFunctionsReply reply{};
  const hipError_t error = connection_.call(facts->device, request, reply);
  if (error == hipSuccess) count = reply.count;
  return error;
}

hipError_t ModuleCache::make_function(const ModuleFacts& module, std::uint64_t handle, std::uint64_t function,
                                      std::string_view name, bool is_known) {
  if (is_known) {
    protocol::GetFunctionRequest request{};
    request.module = handle;
    request.function = function;
    return connection_.post(module.device, request, text(name));
  }
  protocol::FindFunctionRequest request{};
  request.module = handle;
  request.function = function;
  return connection_.call(module.device, request, text(name));
}

hipError_t ModuleCache::describe(const ModuleFacts& module, std::uint64_t function, std::string_view name,
                                 std::shared_ptr<const KernelLayout>& described) {
  auto made = std::make_shared<KernelLayout>();
  KernelLayout& layout = *made;
  layout.name = name;
  layout.can_print = module.image->can_print();
  protocol::DescribeFunctionReply reply{};
  do {
    protocol::DescribeFunctionRequest request{};
    request.function = function;
    request.first_argument = static_cast<std::uint32_t>(layout.arguments.size());
    if (hipError_t error = connection_.call(module.device, request, reply); error != hipSuccess) return error;
    if (reply.arguments > std::size(reply.sizes)) return hipErrorInvalidImage;
    for (std::uint32_t i = 0; i < reply.arguments; ++i)
      layout.arguments.push_back({reply.offsets[i], reply.sizes[i]});
    if (layout.arguments.size() > kArgumentBytesMax) return hipErrorInvalidImage;
  } while (reply.arguments == std::size(reply.sizes));
  layout.static_shared_bytes = reply.static_shared_bytes;
  layout.private_bytes = reply.private_bytes;
  layout.max_threads_per_block = reply.max_threads_per_block;
  layout.registers = reply.registers;
  if (!layout.arguments.empty())
    layout.argument_bytes = layout.arguments.back().offset_bytes + layout.arguments.back().size_bytes;
  if (!is_sane(layout)) return hipErrorInvalidImage;
  described = std::move(made);
  return hipSuccess;
}

hipError_t ModuleCache::variable(std::uint64_t module, std::string_view name, DeviceVariable& variable) {
  auto facts =
      std::dynamic_pointer_cast<ModuleFacts>(connection_.handles().of(HandleKind::kModule).facts(module));
  if (facts == nullptr) return hipErrorInvalidValue;
  const MutexLock lock(facts->mutex);
  for (const auto& of_kind : {&facts->managed, &facts->variables}) {
    const auto known = of_kind->find(name);
    if (known == of_kind->end()) continue;
    variable = known->second;
    return hipSuccess;
  }
  protocol::GetGlobalRequest request{};
  request.module = module;
  protocol::GetGlobalReply reply{};
  if (hipError_t error = connection_.call(facts->device, request, reply, text(name)); error != hipSuccess)
    return error;
  variable = DeviceVariable{reply.address, reply.bytes};
  facts->variables.emplace(name, variable);
  variables_.add_variable(facts->device, variable.address, variable.bytes);
  return hipSuccess;
}

hipError_t ModuleCache::registered_module(int device, std::size_t binary, const void* wrapper,
                                          std::uint64_t& module) {
  const MutexLock lock(load_mutex_);
  auto key = std::pair(binary, device);
  auto known = registered_.find(key);
  if (known == registered_.end()) {
    std::shared_ptr<ModuleFacts> facts;
    RegisteredModule made;
    hipError_t error = read(device, wrapper, facts);
    if (error == hipSuccess) error = load(facts, made.module);
    if (error != hipSuccess) return error;
    known = registered_.emplace(key, made).first;
  }
  module = known->second.module;
  return bind_registered(device, binary, known->second);
}

hipError_t ModuleCache::bind_registered(int device, std::size_t binary, RegisteredModule& module) {
  for (const ManagedVariable& variable : Registry::instance().managed(binary, module.bound)) {
    const auto address = reinterpret_cast<std::uint64_t>(variable.memory);
    const hipError_t error = bind_managed(device, module.module, variable.name, address);
    if (error != hipSuccess) return error;
    ++module.bound;
  }
  return hipSuccess;
}

hipError_t ModuleCache::registered_function(int device, const void* host_function,
                                            std::uint64_t& function_handle) {
  const std::uint64_t epoch = epoch_.load(std::memory_order_relaxed);
  KnownKernel& known = thread_state().known_kernel(host_function);
  if (known.host_function == host_function && known.device == device && known.epoch == epoch) {
    function_handle = known.function;
    return hipSuccess;
  }
  const hipError_t error = find_registered(device, host_function, function_handle);
  if (error == hipSuccess) known = {host_function, function_handle, epoch, device};
  return error;
}

hipError_t ModuleCache::find_registered(int device, const void* host_function,
                                        std::uint64_t& function_handle) {
  auto key = std::pair(host_function, device);
  {
    const SharedLock lock(function_mutex_);
    if (auto known = by_host_function_.find(key); known != by_host_function_.end()) {
      function_handle = known->second;
      return hipSuccess;
    }
  }
  auto symbol = Registry::instance().function(host_function);
  if (!symbol) return hipErrorInvalidDeviceFunction;
  std::uint64_t module = 0;
  hipError_t error = registered_module(device, symbol->binary->index, symbol->binary->wrapper, module);
  if (error == hipSuccess) error = function(module, symbol->name, function_handle);
  if (error == hipErrorNotFound) return hipErrorInvalidDeviceFunction;
  if (error != hipSuccess) return error;
  const MutexLock lock(function_mutex_);
  by_host_function_.insert_or_assign(key, function_handle);
  return hipSuccess;
}

hipError_t ModuleCache::registered_variable(int device, const void* symbol, DeviceVariable& found) {
  auto registered = Registry::instance().variable(symbol);
  if (!registered) return hipErrorInvalidSymbol;
  if (registered->memory != 0) {
    found = {registered->memory, registered->bytes};
    return hipSuccess;
  }
  std::uint64_t module = 0;
  hipError_t error =
      registered_module(device, registered->binary->index, registered->binary->wrapper, module);
  if (error == hipSuccess) error = variable(module, registered->name, found);
  return error == hipErrorNotFound ? hipErrorInvalidSymbol : error;
}

void ModuleCache::forget_registered() {
  const MutexLock lock(function_mutex_);
  by_host_function_.clear();
  epoch_.store(next_epoch(), std::memory_order_relaxed);
}

std::shared_ptr<const FunctionFacts> ModuleCache::facts(std::uint64_t function) const {
  // Handles of functions are made here only, with these facts.
  return std::static_pointer_cast<const FunctionFacts>(
      connection_.handles().of(HandleKind::kFunction).facts(function));
}

const FunctionFacts* ModuleCache::borrow_facts(std::uint64_t function) const {
  return static_cast<const FunctionFacts*>(
      connection_.handles().of(HandleKind::kFunction).borrow_facts(function));
}

}  // namespace tf::proxy
