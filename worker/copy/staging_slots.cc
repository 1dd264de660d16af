// SPDX-License-Identifier: Apache-2.0
// Allocates the staging slots, and frees them when their events are done.
#include "worker/copy/staging_slots.h"

#include <sys/mman.h>

namespace tf::worker {
namespace {

constexpr std::size_t kCollectedMax = 8;  // at a time
constexpr std::size_t kRestingMin = 12;   // large slots
constexpr std::size_t kDrainingMax = 16;  // from then on, slots that are done are used before others

}  // namespace

StagingSlots::~StagingSlots() {
  for (Size* size : {&small_, &medium_, &large_}) {
    for (const auto& slot : size->all) destroy_events(*slot);
    for (const Block& block : size->blocks) {
      bulk_.forget(block.memory);
      if (block.pinned)
        own_calls_.pass_on(hip_.hipHostFree(block.memory.data()));
      else
        ::munmap(block.memory.data(), block.memory.size());
    }
  }
}

// Null: the runtime has none.
void* StagingSlots::pin(std::size_t bytes) {
  void* block = nullptr;
  const hipError_t error = own_calls_.keep(hip_.hipHostMalloc(&block, bytes, hipHostMallocPortable));
  return error == hipSuccess ? block : nullptr;
}

hipError_t StagingSlots::allocate(Size& size) {
  const std::size_t bytes = size.slot_bytes * size.slots;
  void* block = pin(bytes);
  const bool pinned = block != nullptr;
  if (!pinned) {
    // Slower, but correct: the runtime stages pageable memory itself.
    block = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (block == MAP_FAILED) return hipErrorOutOfMemory;
  }
  add(size, {{static_cast<std::byte*>(block), bytes}, pinned});
  return hipSuccess;
}

// The slots that there are would do. So it is tried once, and only pinned memory is worth it.
void StagingSlots::grow(Size& size) {
  const std::size_t bytes = size.slot_bytes * size.slots;
  if (void* const block = pin(bytes); block != nullptr)
    add(size, {{static_cast<std::byte*>(block), bytes}, true});
  else
    size.blocks_max = size.blocks.size();
}

void StagingSlots::add(Size& size, const Block& block) {
  size.blocks.push_back(block);
  bulk_.remember(block.memory);
  if (device_ == DeviceMemory::kBehindBus) bulk_.expect_device_reads(block.memory);
  for (std::size_t index = size.slots; index-- > 0;) {
    auto slot = std::make_unique<Slot>();
    slot->memory_ = block.memory.subspan(index * size.slot_bytes, size.slot_bytes);
    size.free.push_front(slot.get());  // nobody has used it yet
    size.all.push_back(std::move(slot));
  }
}

// Some of them: each query is a call of the runtime. While others are free, up to the first one that is not
// done.
void StagingSlots::collect(Size& size) {
  const bool others = !size.free.empty();
  const std::size_t waiting = size.draining.size();
  std::size_t collected = 0;
  for (std::size_t round = 0; round < waiting && collected < kCollectedMax; ++round) {
    Slot* const slot = size.draining.front();
    // A failed stream no longer touches the slot either.
    const bool done = own_calls_.is_done(query(slot), slot->stream_, slot->event_device_);
    if (!done && others) return;
    size.draining.pop_front();
    (done ? size.free : size.draining).push_back(slot);
    collected += done ? 1U : 0U;
  }
}

// Slots are not used as late as they should be, and there may be more.
bool StagingSlots::is_short(const Size& size) const {
  return device_ == DeviceMemory::kBehindBus && size.blocks.size() < size.blocks_max &&
         size.free.size() < kRestingMin;
}

StagingSlots::Slot* StagingSlots::acquire(std::size_t bytes, Reuse reuse, hipError_t& error) {
  Size& size = size_for(bytes);
  const bool late = reuse == Reuse::kLate && &size != &small_;
  error = size.blocks.empty() ? allocate(size) : hipSuccess;
  if (error != hipSuccess) return nullptr;
  if (size.free.empty() || size.draining.size() >= kDrainingMax) collect(size);
  if (late && is_short(size)) grow(size);
  if (size.free.empty()) return nullptr;
  Slot* const slot = late ? size.free.front() : size.free.back();
  if (late)
    size.free.pop_front();
  else
    size.free.pop_back();
  slot->transfer.reset();
  slot->filling.reset();
  return slot;
}

void StagingSlots::release(Slot* slot) { size_for(slot->memory_.size()).free.push_back(slot); }

void StagingSlots::destroy_events(Slot& slot) {
  for (hipEvent_t& event : slot.events_) {
    if (event != nullptr) own_calls_.pass_on(hip_.hipEventDestroy(event), nullptr, slot.event_device_);
    event = nullptr;
  }
}

hipError_t StagingSlots::record(Slot* slot, hipStream_t stream, int device, std::size_t part) {
  if (slot->event_device_ != device) destroy_events(*slot);
  slot->event_device_ = device;
  hipEvent_t& event = slot->events_[part];
  if (event == nullptr) {
    const hipError_t error = hip_.hipEventCreateWithFlags(&event, hipEventDisableTiming);
    if (error != hipSuccess) {
      event = nullptr;
      return error;
    }
  }
  slot->stream_ = stream;
  return hip_.hipEventRecord(event, stream);
}

void StagingSlots::release_when_done(Slot* slot) { size_for(slot->memory_.size()).draining.push_back(slot); }

}  // namespace tf::worker
