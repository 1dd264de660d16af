// SPDX-License-Identifier: Apache-2.0
// Splits of a device's multiprocessors, and descriptors (HIP 7.14). Rules and errors are those of AMD's
// runtime (ROCm/rocm-systems, projects/clr/hipamd/src/hip_executionctx.cpp), for devices whose
// multiprocessors may be scheduled one by one.
#include "hipcore/composed/resources.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <map>

#include "transport/base/mutex.h"

namespace tf::composed {
namespace {

constexpr unsigned kAlignment = 1;            // multiprocessors
constexpr std::uint32_t kMagic = 0x53524854;  // of a tag in a resource
constexpr std::size_t kResourcesMax = 1024;   // of one descriptor

struct Stored {
  std::uint32_t magic = kMagic;
  Tag tag;
};
static_assert(sizeof(Stored) <= sizeof(hipDevResource::_internal_padding));

std::uint32_t next_family() {
  static std::atomic<std::uint32_t> last{0};
  return last.fetch_add(1, std::memory_order_relaxed) + 1;  // relaxed: only a number
}

class Descriptors {
 public:
  hipDevResourceDesc_t add(std::vector<hipDevResource> resources) {
    const MutexLock lock(mutex_);
    if (all_.size() >= kDescriptorsMax) all_.erase(all_.begin());
    all_.emplace(++last_, std::move(resources));
    return reinterpret_cast<hipDevResourceDesc_t>(last_ << 4);
  }
  std::vector<hipDevResource> find(hipDevResourceDesc_t descriptor) const {
    const MutexLock lock(mutex_);
    const auto handle = reinterpret_cast<std::uintptr_t>(descriptor);
    const auto found = handle % 16 == 0 ? all_.find(handle >> 4) : all_.end();
    return found == all_.end() ? std::vector<hipDevResource>{} : found->second;
  }

 private:
  mutable Mutex mutex_;
  std::map<std::uintptr_t, std::vector<hipDevResource>> all_ TF_GUARDED_BY(mutex_);  // by age
  std::uintptr_t last_ TF_GUARDED_BY(mutex_) = 0;
};

// Never destroyed: programs call until the process ends.
Descriptors& descriptors() {
  static Descriptors& descriptors = *new Descriptors;
  return descriptors;
}

// Cuts ranges of units off a resource, from its first unit on.
class Cutter {
 public:
  Cutter(const hipDevResource& whole, unsigned alignment)
      : tag_(tag_of(whole)), left_(whole.sm.smCount), alignment_(alignment) {
    tag_.family = next_family();
  }
  // REQUIRES: as many units are left
  hipDevResource cut(unsigned units, unsigned alignment, unsigned flags) {
    const hipDevResource made = make_resource(tag_, units, alignment, flags);
    tag_.first += units;
    left_ -= units;
    return made;
  }
  // A resource of hipDevResourceTypeInvalid if nothing is left.
  void give_rest(hipDevResource* rest) {
    if (rest != nullptr) *rest = left_ != 0 ? cut(left_, alignment_, 0) : hipDevResource{};
  }

 private:
  Tag tag_;
  unsigned left_;
  unsigned alignment_;
};

unsigned alignment_of(const hipDevResource& resource) {
  return std::max(resource.sm.smCoscheduledAlignment, 1u);
}

// A group without a count gets what is left, in whole alignments unless it takes the rest.
hipError_t fill_in(hipDevSmResourceGroupParams* groups, unsigned count, unsigned units, unsigned alignment) {
  for (unsigned i = 0; i < count; ++i) {
    auto& group = groups[i];
    if (group.coscheduledSmCount == 0) group.coscheduledSmCount = alignment;
    if (group.preferredCoscheduledSmCount == 0) group.preferredCoscheduledSmCount = group.coscheduledSmCount;
    if (group.smCount != 0 && (group.smCount < alignment || group.smCount > units))
      return hipErrorInvalidResourceConfiguration;
  }
  unsigned left = units;
  for (unsigned i = 0; i < count; ++i) {
    auto& group = groups[i];
    const bool takes_all = (group.flags & hipDevSmResourceGroupBackfill) != 0;
    if (group.smCount == 0)
      group.smCount = takes_all ? left : left / group.coscheduledSmCount * group.coscheduledSmCount;
    if (group.smCount > left) return hipErrorInvalidResourceConfiguration;
    left -= group.smCount;
  }
  return hipSuccess;
}

bool is_whole(const hipDevSmResourceGroupParams& group) {
  const bool is_rest = (group.flags & hipDevSmResourceGroupBackfill) != 0;
  return group.smCount != 0 && group.smCount >= group.coscheduledSmCount &&
         (is_rest || group.smCount % group.coscheduledSmCount == 0);
}

// All are parts of one device and of one split.
hipError_t check_together(const hipDevResource* resources, unsigned count) {
  const Tag first = tag_of(resources[0]);
  std::uint32_t family = 0;
  for (unsigned i = 0; i < count; ++i) {
    if (resources[i].type != hipDevResourceTypeSm) return hipErrorInvalidResourceType;
  }
  for (unsigned i = 0; i < count; ++i) {
    if (const hipError_t error = check_place(resources[i])) return error;
    const Tag tag = tag_of(resources[i]);
    if (resources[i].sm.smCoscheduledAlignment != resources[0].sm.smCoscheduledAlignment ||
        tag.device != first.device)
      return hipErrorInvalidResourceConfiguration;
    if (tag.family == 0) continue;
    if (family != 0 && tag.family != family) return hipErrorInvalidResourceConfiguration;
    family = tag.family;
  }
  return hipSuccess;
}

}  // namespace

Tag tag_of(const hipDevResource& resource) {
  Stored stored;
  std::memcpy(&stored, resource._internal_padding, sizeof stored);
  return stored.magic == kMagic ? stored.tag : Tag{};
}

hipDevResource make_resource(const Tag& tag, unsigned units, unsigned alignment, unsigned flags) {
  hipDevResource made{};
  made.type = hipDevResourceTypeSm;
  const Stored stored{.tag = tag};
  std::memcpy(made._internal_padding, &stored, sizeof stored);
  made.sm = {
      .smCount = units, .minSmPartitionSize = alignment, .smCoscheduledAlignment = alignment, .flags = flags};
  return made;
}

hipError_t count_units(int device, unsigned& units) {
  if (const hipError_t error = check_device(device)) return error;
  hipDeviceProp_t properties{};
  if (const hipError_t error = hipGetDeviceProperties(&properties, device)) return error;
  units = static_cast<unsigned>(std::clamp(properties.multiProcessorCount, 1, kUnitsMax));
  return hipSuccess;
}

hipError_t check_place(const hipDevResource& resource) {
  const Tag tag = tag_of(resource);
  unsigned units = 0;
  if (const hipError_t error = count_units(tag.device, units)) return error;
  const bool fits = resource.sm.smCount != 0 && tag.first < units && resource.sm.smCount <= units - tag.first;
  return fits ? hipSuccess : hipErrorInvalidResourceConfiguration;
}

UnitMask mask_of(const std::vector<hipDevResource>& resources, unsigned units) {
  UnitMask mask((units + kUnitsPerWord - 1) / kUnitsPerWord, 0);
  for (const hipDevResource& resource : resources) {
    const std::uint32_t first = tag_of(resource).first;
    for (std::uint32_t unit = first; unit < first + resource.sm.smCount; ++unit)
      mask[unit / kUnitsPerWord] |= std::uint32_t{1} << unit % kUnitsPerWord;
  }
  return mask;
}

std::vector<hipDevResource> resources_of(hipDevResourceDesc_t descriptor) {
  return descriptors().find(descriptor);
}

}  // namespace tf::composed

using namespace tf::composed;

TF_COMPOSED hipError_t hipDeviceGetDevResource(hipDevice_t device, hipDevResource* resource,
                                               hipDevResourceType type) {
  if (resource == nullptr) return refuse(hipErrorInvalidValue);
  if (type != hipDevResourceTypeSm) return refuse(hipErrorInvalidResourceType);
  unsigned units = 0;
  if (const hipError_t error = count_units(device, units)) return error;
  *resource = make_resource({.device = device}, units, kAlignment, 0);
  return hipSuccess;
}

TF_COMPOSED hipError_t hipDevSmResourceSplitByCount(hipDevResource* result, unsigned int* groups,
                                                    const hipDevResource* input, hipDevResource* rest,
                                                    unsigned int flags, unsigned int least) {
  if (groups == nullptr || input == nullptr) return refuse(hipErrorInvalidValue);
  if (input->type != hipDevResourceTypeSm) return refuse(hipErrorInvalidResourceType);
  if ((flags & hipDevSmResourceSplitIgnoreSmCoscheduling) != 0) return refuse(hipErrorNotSupported);
  if (const hipError_t error = check_place(*input)) return refuse(error);
  const hipDevResource whole = *input;  // which may be one of the results
  const std::uint64_t alignment = alignment_of(whole);
  const std::uint64_t each = std::max<std::uint64_t>((least + alignment - 1) / alignment, 1) * alignment;
  const auto possible = static_cast<unsigned>(whole.sm.smCount / each);
  if (result == nullptr) {
    *groups = possible;
    return hipSuccess;
  }
  *groups = std::min(*groups, possible);
  Cutter cutter(whole, static_cast<unsigned>(alignment));
  for (unsigned i = 0; i < *groups; ++i)
    result[i] = cutter.cut(static_cast<unsigned>(each), static_cast<unsigned>(alignment), 0);
  cutter.give_rest(rest);
  return hipSuccess;
}

TF_COMPOSED hipError_t hipDevSmResourceSplit(hipDevResource* result, unsigned int count,
                                             const hipDevResource* input, hipDevResource* rest,
                                             unsigned int flags, hipDevSmResourceGroupParams* groups) {
  if (input == nullptr || groups == nullptr) return refuse(hipErrorInvalidValue);
  if (input->type != hipDevResourceTypeSm) return refuse(hipErrorInvalidResourceType);
  if (flags != 0) return refuse(hipErrorInvalidValue);
  if (const hipError_t error = check_place(*input)) return refuse(error);
  const hipDevResource whole = *input;  // which may be one of the results
  const unsigned alignment = alignment_of(whole);
  if (const hipError_t error = fill_in(groups, count, whole.sm.smCount, alignment)) return refuse(error);
  Cutter cutter(whole, alignment);
  if (result != nullptr && !std::all_of(groups, groups + count, is_whole))
    return refuse(hipErrorInvalidResourceConfiguration);
  for (unsigned i = 0; i < count; ++i) {
    const hipDevResource made = cutter.cut(groups[i].smCount, groups[i].coscheduledSmCount, groups[i].flags);
    if (result != nullptr) result[i] = made;
  }
  cutter.give_rest(rest);
  return hipSuccess;
}

TF_COMPOSED hipError_t hipDevResourceGenerateDesc(hipDevResourceDesc_t* descriptor, hipDevResource* resources,
                                                  unsigned int count) {
  if (descriptor == nullptr || resources == nullptr || count == 0 || count > kResourcesMax)
    return refuse(hipErrorInvalidValue);
  if (const hipError_t error = check_together(resources, count)) return refuse(error);
  return guarded([&] {
    *descriptor = descriptors().add({resources, resources + count});
    return hipSuccess;
  });
}
