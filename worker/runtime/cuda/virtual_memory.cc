// SPDX-License-Identifier: Apache-2.0
// Reserves, creates and maps memory with the driver.
#include "worker/runtime/cuda/virtual_memory.h"

#include <fcntl.h>
#include <unistd.h>

#include <iterator>
#include <utility>

#include "hipcore/graph/box.h"
#include "transport/base/mutex.h"
#include "worker/runtime/cuda/convert.h"
#include "worker/runtime/cuda/runtime.h"

namespace tf::cuda {
namespace {

// The place for reservations whose address this library chooses. The driver's own choices lie between
// existing ones, and it does not return such an address again when a program asks for it: these it does.
constexpr std::uintptr_t kProposalsStart = std::uintptr_t{0x48} << 40;
constexpr std::uintptr_t kProposalsEnd = std::uintptr_t{0x50} << 40;
constexpr std::uintptr_t kProposalAlignment = std::uintptr_t{1} << 21;

// HIP's structs for locations and access rights equal CUDA's.
static_assert(sizeof(hipMemLocation) == sizeof(driver::Location));
static_assert(sizeof(hipMemAccessDesc) == sizeof(driver::AccessDescription));

using graph::address_of;

// HIP cannot express what network devices may reach: everything that can be reached is.
driver::AllocationProperties wish_for(const hipMemAllocationProp& properties) {
  driver::AllocationProperties wish = convert(properties);
  int able = 0;
  const driver::Device device = Runtime::get().device(properties.location.id).handle;
  if (cu().DeviceGetAttribute(&able, driver::kAttributeRdmaOfMapped, device) == driver::Result::SUCCESS)
    wish.flags.rdma_capable = able != 0 ? 1 : 0;
  return wish;
}

}  // namespace

VirtualMemory& virtual_memory() {
  static VirtualMemory* const all = new VirtualMemory;
  return *all;
}

VirtualMemory::Physical::~Physical() {
  if (descriptor >= 0) ::close(descriptor);
}

// Null: the driver chooses.
void* VirtualMemory::propose(std::size_t bytes, std::size_t alignment) {
  const std::uintptr_t step = alignment > kProposalAlignment ? alignment : kProposalAlignment;
  if ((step & (step - 1)) != 0) return nullptr;
  if (next_ == 0) next_ = kProposalsStart;
  const std::uintptr_t start = (next_ + step - 1) & ~(step - 1);
  if (start >= kProposalsEnd || bytes > kProposalsEnd - start) return nullptr;
  next_ = start + bytes;
  return reinterpret_cast<void*>(start);
}

// Like the driver: another range if the wish cannot be met.
hipError_t VirtualMemory::reserve(void** pointer, std::size_t bytes, std::size_t alignment, void* wish) {
  const MutexLock lock(mutex_);
  if (!wish) wish = propose(bytes, alignment);
  const hipError_t status = check(cu().MemAddressReserve(pointer, bytes, alignment, wish, 0));
  if (status == hipSuccess) reservations_[address_of(*pointer)] = bytes;
  return status;
}

hipError_t VirtualMemory::free(void* pointer, std::size_t bytes) {
  const MutexLock lock(mutex_);
  const auto reserved = reservations_.find(address_of(pointer));
  if (reserved == reservations_.end() || reserved->second != bytes || !is_free(address_of(pointer), bytes))
    return hipErrorInvalidValue;
  const hipError_t status = check(cu().MemAddressFree(pointer, bytes));
  if (status == hipSuccess) reservations_.erase(reserved);
  return status;
}

void VirtualMemory::add(hipMemGenericAllocationHandle_t handle, std::shared_ptr<Physical> physical) {
  Handle& entry = handles_[handle];
  entry.physical = std::move(physical);
  ++entry.owners;
}

VirtualMemory::Physical* VirtualMemory::find(hipMemGenericAllocationHandle_t handle) const {
  const auto found = handles_.find(handle);
  return found == handles_.end() ? nullptr : found->second.physical.get();
}

hipError_t VirtualMemory::granularity(const hipMemAllocationProp& properties,
                                      hipMemAllocationGranularity_flags option, std::size_t& bytes) {
  const driver::AllocationProperties wish = wish_for(properties);
  return check(cu().MemGetAllocationGranularity(&bytes, &wish, option));
}

hipError_t VirtualMemory::create(hipMemGenericAllocationHandle_t* handle, std::size_t bytes,
                                 const hipMemAllocationProp& properties) {
  const driver::AllocationProperties wish = wish_for(properties);
  auto physical = std::make_shared<Physical>();
  physical->properties = properties;
  physical->bytes = bytes;
  const MutexLock lock(mutex_);
  const hipError_t status = check(cu().MemCreate(handle, bytes, &wish, 0));
  if (status == hipSuccess) add(*handle, std::move(physical));
  return status;
}

hipError_t VirtualMemory::import(hipMemGenericAllocationHandle_t* handle, int descriptor) {
  auto physical = std::make_shared<Physical>();
  physical->descriptor = ::fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
  if (physical->descriptor < 0) return hipErrorInvalidValue;
  void* const number = reinterpret_cast<void*>(static_cast<std::intptr_t>(descriptor));
  const MutexLock lock(mutex_);
  const hipError_t status =
      check(cu().MemImportFromShareableHandle(handle, number, hipMemHandleTypePosixFileDescriptor));
  // What the driver says of a file that is not memory of its.
  if (status == hipErrorUnknown || status == hipErrorInvalidHandle) return hipErrorInvalidValue;
  if (status != hipSuccess) return status;
  driver::AllocationProperties found{};
  if (cu().MemGetAllocationPropertiesFromHandle(&found, *handle) == driver::Result::SUCCESS)
    physical->properties = convert_back(found);
  physical->properties.requestedHandleType = hipMemHandleTypePosixFileDescriptor;
  add(*handle, std::move(physical));
  return hipSuccess;
}

hipError_t VirtualMemory::export_to(hipMemGenericAllocationHandle_t handle, int& descriptor) {
  const MutexLock lock(mutex_);
  const Physical* const physical = find(handle);
  if (!physical) return hipErrorInvalidValue;
  if (physical->descriptor < 0)
    return check(
        cu().MemExportToShareableHandle(&descriptor, handle, hipMemHandleTypePosixFileDescriptor, 0));
  const int copy = ::fcntl(physical->descriptor, F_DUPFD_CLOEXEC, 0);
  if (copy < 0) return hipErrorOperatingSystem;
  descriptor = copy;
  return hipSuccess;
}

hipError_t VirtualMemory::properties(hipMemGenericAllocationHandle_t handle,
                                     hipMemAllocationProp& properties) {
  const MutexLock lock(mutex_);
  const Physical* const physical = find(handle);
  if (!physical) return hipErrorInvalidValue;
  properties = physical->properties;
  return hipSuccess;
}

const VirtualMemory::Mapping* VirtualMemory::mapping_of(std::uintptr_t address) const {
  auto after = mappings_.upper_bound(address);
  if (after == mappings_.begin()) return nullptr;
  --after;
  return address - after->first < after->second.bytes ? &after->second : nullptr;
}

hipError_t VirtualMemory::retain(hipMemGenericAllocationHandle_t* handle, void* address) {
  const MutexLock lock(mutex_);
  const Mapping* const mapping = mapping_of(address_of(address));
  if (!mapping) return hipErrorInvalidValue;
  const hipError_t status = check(cu().MemRetainAllocationHandle(handle, address));
  if (status == hipSuccess) add(*handle, mapping->physical);
  return status;
}

hipError_t VirtualMemory::release(hipMemGenericAllocationHandle_t handle) {
  const MutexLock lock(mutex_);
  const auto found = handles_.find(handle);
  if (found == handles_.end()) return hipErrorInvalidValue;
  if (--found->second.owners == 0) handles_.erase(found);
  return check(cu().MemRelease(handle));
}

bool VirtualMemory::is_free(std::uintptr_t address, std::size_t bytes) const {
  const auto next = mappings_.lower_bound(address);
  return !mapping_of(address) && (next == mappings_.end() || next->first - address >= bytes);
}

hipError_t VirtualMemory::map(void* pointer, std::size_t bytes, std::size_t offset,
                              hipMemGenericAllocationHandle_t handle) {
  const std::uintptr_t address = address_of(pointer);
  const MutexLock lock(mutex_);
  const auto found = handles_.find(handle);
  if (found == handles_.end() || bytes == 0) return hipErrorInvalidValue;
  const std::size_t whole = found->second.physical->bytes;
  if (whole != 0 && (offset > whole || bytes > whole - offset)) return hipErrorInvalidValue;
  auto reserved = reservations_.upper_bound(address);
  if (reserved == reservations_.begin()) return hipErrorInvalidValue;
  --reserved;
  const std::size_t inside = address - reserved->first;
  if (inside > reserved->second || bytes > reserved->second - inside || !is_free(address, bytes))
    return hipErrorInvalidValue;
  const hipError_t status = check(cu().MemMap(pointer, bytes, offset, handle, 0));
  if (status == hipSuccess) mappings_[address] = {found->second.physical, bytes};
  return status;
}

bool VirtualMemory::covered(std::uintptr_t address, std::size_t bytes) const {
  auto at = mappings_.find(address);
  std::size_t done = 0;
  while (at != mappings_.end() && at->first == address + done && done < bytes) {
    done += at->second.bytes;
    ++at;
  }
  return bytes != 0 && done == bytes;
}

bool VirtualMemory::is_mapped(const void* pointer, std::size_t bytes) const {
  const MutexLock lock(mutex_);
  return covered(address_of(pointer), bytes);
}

hipError_t VirtualMemory::forget(void* pointer, std::size_t bytes) {
  const std::uintptr_t address = address_of(pointer);
  const MutexLock lock(mutex_);
  if (!covered(address, bytes)) return hipErrorInvalidValue;
  const hipError_t status = check(cu().MemUnmap(pointer, bytes));
  if (status != hipSuccess) return status;
  mappings_.erase(mappings_.find(address), mappings_.lower_bound(address + bytes));
  return hipSuccess;
}

hipError_t VirtualMemory::unmap(void* pointer, std::size_t bytes) {
  const hipError_t pending = Runtime::get().synchronize_all();
  const hipError_t status = forget(pointer, bytes);
  return status != hipSuccess ? status : pending;
}

hipError_t VirtualMemory::set_access(void* pointer, std::size_t bytes,
                                     std::span<const hipMemAccessDesc> wishes) const {
  if (!is_mapped(pointer, bytes)) return hipErrorInvalidValue;
  if (const hipError_t error = Runtime::get().late_work.wait()) return error;
  const std::vector<driver::AccessDescription> access = convert(wishes);
  return check(cu().MemSetAccess(pointer, bytes, access.data(), access.size()));
}

hipError_t VirtualMemory::access(int device, void* pointer, unsigned long long& flags) {
  const driver::Location place{hipMemLocationTypeDevice, device};
  return check(cu().MemGetAccess(&flags, &place, pointer));
}

}  // namespace tf::cuda
