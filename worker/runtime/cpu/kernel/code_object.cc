// SPDX-License-Identifier: Apache-2.0
// Loads CPU code objects (CodeObject of kernel_api.h): from bytes to a shared object in an anonymous file.
//
// The image is native code: loading it lets it do everything that this process may do. Anybody who may send
// kernels to this worker is trusted that far; the boundary is the worker's process per session.
#include "hipcore/codeobject/elf.h"
#include "hipcore/codeobject/fat_binary.h"
#include "hipcore/codeobject/managed.h"
#include "hipcore/codeobject/metadata.h"
#include "worker/runtime/cpu/kernel/module.h"
#include "worker/runtime/cpu/kernel_api.h"

#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <string>

namespace tf::cpu {
namespace {

using codeobject::Bytes;

constexpr int kPathBits = 40;
constexpr char kReservedPrefix[] = "__hipr_";

// For the loader equal paths mean the same library, and descriptor numbers are reused. So every load spells
// its path differently ("/." or "//." for each bit of a counter).
std::string unique_path(int descriptor) {
  static std::atomic<std::uint64_t> loads{0};
  // relaxed: only uniqueness matters, nothing is published with it.
  const std::uint64_t number = loads.fetch_add(1, std::memory_order_relaxed);
  std::string path = "/proc/self/fd";
  for (int bit = 0; bit < kPathBits; ++bit) path += ((number >> bit) & 1) != 0 ? "//." : "/.";
  return path + "/" + std::to_string(descriptor);
}

bool write_all(int descriptor, Bytes bytes) {
  while (!bytes.empty()) {
    const ssize_t wrote = write(descriptor, bytes.data(), bytes.size());
    if (wrote <= 0) return false;
    bytes = bytes.subspan(static_cast<std::size_t>(wrote));
  }
  return true;
}

// The library handle, or null. The descriptor is not needed once the file is mapped.
void* open_image(Bytes image) {
  const int descriptor = memfd_create("hip-code-object", MFD_CLOEXEC);
  if (descriptor < 0) return nullptr;
  void* library = nullptr;
  if (write_all(descriptor, image)) library = dlopen(unique_path(descriptor).c_str(), RTLD_NOW | RTLD_LOCAL);
  close(descriptor);
  return library;
}

struct LoadedKernel {
  Kernel kernel;
  KernelRecord record;
};

class LoadedObject final : public CodeObject {
 public:
  LoadedObject() = default;
  ~LoadedObject() override {
    if (library_ != nullptr) dlclose(library_);
  }

  hipError_t open(Bytes image) {
    auto kernels = codeobject::read_metadata(image);
    auto elf = codeobject::Elf::parse(image);
    if (!kernels || !elf || elf->machine() != codeobject::kMachineX86_64) return hipErrorInvalidImage;
    library_ = open_image(image);
    if (library_ == nullptr) return hipErrorSharedObjectInitFailed;
    const auto* module = static_cast<const HiprModule*>(dlsym(library_, "__hipr_module"));
    if (module == nullptr || module->device_abi < HIPR_OLDEST_DEVICE_ABI ||
        module->device_abi > HIPR_DEVICE_ABI)
      return hipErrorInvalidImage;
    for (const codeobject::Symbol& symbol : elf->symbols()) {
      const bool wanted = symbol.defined && symbol.type == 1 && !symbol.name.starts_with(kReservedPrefix);
      if (wanted) variable_bytes_.emplace(symbol.name, symbol.size);
    }
    for (const codeobject::ManagedVariable& variable : codeobject::managed_variables(*elf)) {
      if (!add(variable)) return hipErrorInvalidImage;
    }
    for (const codeobject::KernelInfo& info : *kernels) {
      if (!add(info, *module)) return hipErrorInvalidImage;
    }
    return hipSuccess;
  }

  const Kernel* find(std::string_view name) const override {
    const auto found = kernels_.find(name);
    return found == kernels_.end() ? nullptr : &found->second.kernel;
  }

  std::size_t kernel_count() const override { return kernels_.size(); }

  void* global(std::string_view name, std::size_t& bytes) const override {
    if (const auto managed = managed_.find(name); managed != managed_.end()) {
      bytes = managed->second.bytes;
      return *managed->second.pointer;
    }
    const auto found = variable_bytes_.find(name);
    if (found == variable_bytes_.end()) return nullptr;
    bytes = found->second;
    return dlsym(library_, found->first.c_str());
  }

  bool bind_managed(std::string_view name, void* memory) override {
    const auto found = managed_.find(name);
    if (found == managed_.end()) return false;
    *found->second.pointer = memory;
    return true;
  }

  bool has_managed(std::string_view name) const override {
    if (name.ends_with(codeobject::kManagedSuffix)) name.remove_suffix(codeobject::kManagedSuffix.size());
    const auto found = managed_.find(name);
    return found != managed_.end() && *found->second.pointer == found->second.value;
  }

 private:
  struct Managed {
    void** pointer = nullptr;  // what kernels read
    void* value = nullptr;     // in the object
    std::size_t bytes = 0;
  };

  bool add(const codeobject::ManagedVariable& variable) {
    Managed managed;
    managed.pointer = static_cast<void**>(dlsym(library_, variable.name.c_str()));
    managed.value = dlsym(library_, variable.initial.c_str());
    managed.bytes = static_cast<std::size_t>(variable.bytes);
    if (managed.pointer == nullptr || managed.value == nullptr) return false;
    *managed.pointer = managed.value;
    managed_.emplace(variable.name, managed);
    return true;
  }

  bool add(const codeobject::KernelInfo& info, const HiprModule& module) {
    const std::string symbol = kReservedPrefix + ("run_" + info.name);
    void* const entry = dlsym(library_, symbol.c_str());
    if (entry == nullptr) return false;
    LoadedKernel& loaded = kernels_[info.name];
    loaded.record = {&module, reinterpret_cast<HiprRun>(entry), info.parks, info.spins};
    Kernel& kernel = loaded.kernel;
    kernel.name = info.name;
    kernel.argument_bytes = info.argument_bytes;
    kernel.static_shared_bytes = info.static_shared_bytes;
    kernel.private_bytes = info.private_bytes;
    kernel.constant_bytes = info.constant_bytes;
    kernel.max_threads_per_block = std::min(info.max_threads_per_block, kMaxThreadsPerBlock);
    kernel.entry = entry;
    kernel.owner = &loaded.record;  // map nodes keep their address
    for (const codeobject::Argument& a : info.arguments)
      kernel.arguments.push_back({a.offset_bytes, a.size_bytes});
    return true;
  }

  void* library_ = nullptr;
  std::map<std::string, LoadedKernel, std::less<>> kernels_;
  std::map<std::string, std::size_t, std::less<>> variable_bytes_;
  std::map<std::string, Managed, std::less<>> managed_;
};

}  // namespace

hipError_t CodeObject::load(const void* image, std::unique_ptr<CodeObject>& loaded) {
  auto extent = codeobject::image_extent(image);
  if (!extent) return hipErrorInvalidImage;
  const Bytes bytes{static_cast<const std::byte*>(image), static_cast<std::size_t>(*extent)};
  auto selected = codeobject::select_code_object(bytes, kTargetName);
  if (!selected) return selected.code() == Code::kUnavailable ? hipErrorNoBinaryForGpu : hipErrorInvalidImage;
  auto object = std::make_unique<LoadedObject>();
  const hipError_t result = object->open(selected->image);
  if (result == hipSuccess) loaded = std::move(object);
  return result;
}

}  // namespace tf::cpu
