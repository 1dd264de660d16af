// SPDX-License-Identifier: Apache-2.0
// Looks up streams, destroys those whose work is done, and waits for streams.
#include "worker/session/streams.h"

namespace tf::worker {

using protocol::HandleKind;

bool Streams::find(std::uint64_t raw, hipStream_t& stream, int& device) {
  if (raw <= 1) {
    stream = nullptr;
    device = device_.get();
    if (device < 0) return false;
    late_fills_.precede_null();
    return true;
  }
  Object* const object = objects_.find(HandleKind::kStream, raw);
  if (object == nullptr) return false;
  stream = static_cast<hipStream_t>(object->object);
  device = object->device;
  late_fills_.precede(stream, device, object->fills_seen);
  return true;
}

std::uint64_t Streams::name_of(hipStream_t stream) const {
  std::uint64_t name = 0;
  objects_.for_each(HandleKind::kStream, [&](std::uint64_t raw, const Object& object) {
    if (stream != nullptr && object.object == stream) name = raw;
  });
  return name;
}

// Runtimes of AMD's put what the null stream has in front of whatever is recorded on a stream.
hipError_t Streams::follow_null(hipStream_t stream, int device, bool polls) {
  if (polls && !own_calls_.is_done(hip_.hipStreamQuery(stream), stream, device)) return hipSuccess;
  if (follow_null_ != nullptr) return follow_null_(stream);
  hipEvent_t event = nullptr;
  hipError_t error = hip_.hipEventCreateWithFlags(&event, hipEventDisableTiming);
  if (error != hipSuccess) return error;
  error = hip_.hipEventRecord(event, stream);
  own_calls_.pass_on(hip_.hipEventDestroy(event));
  return error;
}

hipError_t Streams::create_masked(hipStream_t& stream, unsigned flags, int priority,
                                  std::span<const std::uint32_t> mask) const {
  const auto words = static_cast<std::uint32_t>(mask.size());
  if (create_masked_ != nullptr) return create_masked_(&stream, flags, priority, words, mask.data());
  if (flags == hipStreamDefault && priority == 0)
    return hip_.hipExtStreamCreateWithCUMask(&stream, words, mask.data());
  // The order of work comes before the units that it uses.
  return hip_.hipStreamCreateWithPriority(&stream, flags, priority);
}

hipError_t Streams::let_finish(hipStream_t stream, int device) {
  const auto has_room = [this] {
    sweep();
    return finishing_.size() < kFinishingStreamsMax;
  };
  if (!life_.wait_until(has_room)) return hipErrorUnknown;
  if (own_calls_.is_done(hip_.hipStreamQuery(stream), stream, device)) return hip_.hipStreamDestroy(stream);
  finishing_.push_back({stream, device});
  return hipSuccess;
}

void Streams::sweep_finishing() {
  std::erase_if(finishing_, [this](const Finishing& entry) {
    if (!own_calls_.is_done(hip_.hipStreamQuery(entry.stream), entry.stream, entry.device)) return false;
    own_calls_.pass_on(hip_.hipStreamDestroy(entry.stream), nullptr, entry.device);
    return true;
  });
}

void Streams::release() {
  for (const Finishing& entry : finishing_) own_calls_.pass_on(hip_.hipStreamDestroy(entry.stream));
  finishing_.clear();
}

bool Streams::device_idle(int device) {
  // A device that cannot be used runs nothing.
  if (own_calls_.keep(device_.use(device), nullptr, device) != hipSuccess) return true;
  if (!own_calls_.is_done(hip_.hipStreamQuery(nullptr), nullptr, device)) return false;
  sweep();
  for (const Finishing& entry : finishing_)
    if (entry.device == device) return false;
  bool idle = true;
  objects_.for_each(HandleKind::kStream, [&](std::uint64_t, const Object& object) {
    if (!idle || object.device != device) return;
    const auto stream = static_cast<hipStream_t>(object.object);
    idle = own_calls_.is_done(hip_.hipStreamQuery(stream), stream, device);
  });
  return idle;
}

bool Streams::wait_device_idle(int device) {
  const int before = device_.get();
  const bool idle = life_.wait_until([&] { return device_idle(device); });
  device_.return_to(before);
  return idle;
}

bool Streams::all_idle() {
  const int before = device_.get();
  bool idle = true;
  for (int device = 0; idle && device < device_.count(); ++device) idle = device_idle(device);
  device_.return_to(before);
  return idle;
}

bool Streams::wait_all_idle() {
  for (int device = 0; device < device_.count(); ++device)
    if (!wait_device_idle(device)) return false;
  return true;
}

}  // namespace tf::worker
