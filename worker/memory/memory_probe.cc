// SPDX-License-Identifier: Apache-2.0
// Tries whether device memory can be exported and mapped.
#include "worker/memory/memory_probe.h"

#include <sys/mman.h>

#include <atomic>

#include "transport/net/fd.h"
#include "worker/memory/allocation_wish.h"
#include "worker/memory/import_form.h"

namespace tf::worker {
namespace {

// Another process's view of device memory.
class View {
 public:
  View(int file, std::uint64_t bytes)
      : bytes_(bytes), base_(::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0)) {}
  ~View() {
    if (base_ != MAP_FAILED) ::munmap(base_, bytes_);
  }
  View(const View&) = delete;
  View& operator=(const View&) = delete;

  explicit operator bool() const { return base_ != MAP_FAILED; }
  // The compiler does not know that the device reads and writes it too.
  std::atomic_ref<std::uint64_t> word() const { return std::atomic_ref(*static_cast<std::uint64_t*>(base_)); }

 private:
  std::uint64_t bytes_;
  void* base_;
};

// Whether the device's writes are visible in the view, and the reverse.
bool shows_device(const protocol::HipTable& hip, void* device, const View& view) {
  constexpr std::uint64_t kDown = 0x5a17'0c3d'9e6b'4f28;
  constexpr std::uint64_t kUp = 0x1f83'd9ab'fb41'bd6b;
  std::uint64_t value = kDown;
  if (hip.hipMemcpy(device, &value, sizeof value, hipMemcpyHostToDevice) != hipSuccess) return false;
  if (hip.hipDeviceSynchronize() != hipSuccess || view.word().load() != kDown) return false;
  view.word().store(kUp);
  return hip.hipMemcpy(&value, device, sizeof value, hipMemcpyDeviceToHost) == hipSuccess && value == kUp;
}

bool can_map(const protocol::HipTable& hip, const VmmFunctions& vmm, std::uint64_t address,
             std::uint64_t bytes, hipMemGenericAllocationHandle_t memory, int file) {
  const View view(file, bytes);
  if (!view) return false;
  void* const device = reinterpret_cast<void*>(address);
  if (vmm.map(device, bytes, 0, memory, 0) != hipSuccess) return false;
  hipMemAccessDesc access{};
  access.location.type = hipMemLocationTypeDevice;
  access.location.id = 0;
  access.flags = hipMemAccessFlagsProtReadWrite;
  const bool shows =
      vmm.set_access(device, bytes, &access, 1) == hipSuccess && shows_device(hip, device, view);
  return vmm.unmap(device, bytes) == hipSuccess && shows;
}

}  // namespace

MemoryAbilities probe_memory(const protocol::HipTable& hip, const VmmFunctions& vmm, std::uint64_t address,
                             std::uint64_t bytes) {
  const hipMemAllocationProp properties = allocation_wish(hip, 0, hipMemHandleTypePosixFileDescriptor);
  hipMemGenericAllocationHandle_t memory{};
  if (vmm.create(&memory, bytes, &properties, 0) != hipSuccess) return {};
  int descriptor = -1;
  const hipError_t exported =
      hip.hipMemExportToShareableHandle(&descriptor, memory, hipMemHandleTypePosixFileDescriptor, 0);
  const net::OwnedFd file(descriptor);
  MemoryAbilities abilities;
  abilities.shared = exported == hipSuccess && file && find_import_form(hip, file.get());
  abilities.mapped = abilities.shared && can_map(hip, vmm, address, bytes, memory, file.get());
  static_cast<void>(vmm.release(memory));
  return abilities;
}

}  // namespace tf::worker
