// SPDX-License-Identifier: Apache-2.0
// Registers device memory with the transport through dma-bufs.
#include "worker/memory/device_regions.h"

#include <algorithm>
#include <cstddef>
#include <span>

#include "transport/net/fd.h"
#include "worker/base/log.h"

namespace tf::worker {
namespace {

std::span<std::byte> span_of(std::uint64_t address, std::uint64_t bytes) {
  return {reinterpret_cast<std::byte*>(address), static_cast<std::size_t>(bytes)};
}

std::string without_prefix(const std::string& message, std::string_view transport) {
  const std::string prefix = std::string(transport) + ": ";
  return message.starts_with(prefix) ? message.substr(prefix.size()) : message;
}

}  // namespace

DeviceRegions::~DeviceRegions() {
  for (const auto& [address, region] : regions_) endpoint_.bulk().forget(span_of(address, region.bytes));
}

void DeviceRegions::add(std::uint64_t address, std::uint64_t bytes, int device) {
  if (!endpoint_.capabilities().one_sided || host_reach_.reaches_device(device)) return;
  const auto index = static_cast<std::size_t>(device);
  if (abilities_.size() <= index) abilities_.resize(index + 1);
  Ability& ability = abilities_[index];
  if (ability.refused || is_known(address)) return;
  const int current = device_.get();
  const Ability before = ability;
  const Status told = own_calls_.keep(device_.use(device), nullptr, device) == hipSuccess
                          ? tell(address, bytes, device, ability)
                          : Status(Code::kUnavailable, "the device cannot be used");
  device_.return_to(current);
  if (told.is_ok()) regions_.emplace(address, Region{bytes, device});
  ability.works = ability.works || told.is_ok();
  ability.refused = !told.is_ok();
  say(device, before, told);
}

Status DeviceRegions::tell(std::uint64_t address, std::uint64_t bytes, int device, Ability& ability) {
  if (range_handle_ == nullptr)
    return {Code::kUnsupported, "the HIP runtime exports none (no hipMemGetHandleForAddressRange)"};
  if (!ability.works) TF_RETURN_IF_ERROR(find_ability(device, ability));
  int descriptor = -1;
  const hipError_t exported =
      own_calls_.keep(range_handle_(&descriptor, reinterpret_cast<hipDeviceptr_t>(address),
                                    static_cast<std::size_t>(bytes), kHipMemRangeHandleTypeDmaBufFd, 0));
  const net::OwnedFd file(exported == hipSuccess ? descriptor : -1);
  if (!file)
    return {Code::kUnsupported,
            fmt::format("the HIP runtime does not export it (error {})", static_cast<int>(exported))};
  return endpoint_.bulk().remember_device(span_of(address, bytes), file.get(), 0);
}

Status DeviceRegions::find_ability(int device, Ability& ability) const {
  if (flush_writes_ == nullptr) return Status::ok();
  int always = 0;
  const hipError_t error = own_calls_.keep(flush_writes_(device, &always), nullptr, device);
  if (error != hipSuccess)
    return {Code::kUnsupported,
            fmt::format("the driver cannot make the writes of other devices visible (error {})",
                        static_cast<int>(error))};
  ability.always_seen = always != 0;
  return Status::ok();
}

void DeviceRegions::say(int device, const Ability& before, const Status& told) const {
  const std::string_view transport = endpoint_.transport();
  if (told.is_ok() && !before.works)
    log("{}: payload goes straight to and from GPU memory of device {} (dma-buf)", transport, device);
  if (!told.is_ok())
    log("{}: {}GPU memory of device {} goes through staging: {}", transport, before.works ? "further " : "",
        device, without_prefix(told.message(), transport));
}

void DeviceRegions::remove(std::uint64_t address, std::uint64_t bytes) {
  auto region = regions_.lower_bound(address);
  while (region != regions_.end() && region->first - address < bytes) {
    endpoint_.bulk().forget(span_of(region->first, region->second.bytes));
    region = regions_.erase(region);
  }
}

void DeviceRegions::note_writes(std::uint64_t address, std::uint64_t bytes,
                                std::vector<int>& to_flush) const {
  auto region = regions_.upper_bound(address);
  if (region != regions_.begin()) --region;
  for (; region != regions_.end() && region->first < address + bytes; ++region) {
    const auto& [start, known] = *region;
    if (start + known.bytes <= address || abilities_[static_cast<std::size_t>(known.device)].always_seen)
      continue;
    if (std::find(to_flush.begin(), to_flush.end(), known.device) == to_flush.end())
      to_flush.push_back(known.device);
  }
}

bool DeviceRegions::flush(int device) {
  int always = 0;
  const hipError_t error = own_calls_.keep(flush_writes_(device, &always), nullptr, device);
  return error == hipSuccess || is_of_earlier_work(error);  // a device that has failed reads nothing any more
}

}  // namespace tf::worker
