// SPDX-License-Identifier: Apache-2.0
// Gives out slices and memory of devices.
#include "provider/partitions.h"

#include <algorithm>
#include <charconv>

namespace tf::provider {
namespace {

constexpr std::uint64_t kGib = 1ULL << 30;

// What is before `end` is a number from 1 to `most`; takes both off.
std::optional<std::uint64_t> take_number(std::string_view& text, std::string_view end, std::uint64_t most) {
  std::uint64_t number = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || number == 0 || number > most) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(stop - text.data()));
  if (!text.starts_with(end)) return std::nullopt;
  text.remove_prefix(end.size());
  return number;
}

// The CPU runtime's UUIDs are longer than ROCr's, so its variable does not take them.
std::string choice_of(const Device& device) {
  return (device.simulated ? "HIP_VISIBLE_DEVICES=" : "ROCR_VISIBLE_DEVICES=") + device.visible;
}

// ROCr numbers the GPUs of HSA_CU_MASK after ROCR_VISIBLE_DEVICES has chosen: the only one is 0.
std::string unit_mask(const Device& device, unsigned first, unsigned slices) {
  const std::uint64_t begin = device.compute_units * first / kSlices;
  const std::uint64_t end = device.compute_units * (first + slices) / kSlices;
  return "HSA_CU_MASK=0:" + std::to_string(begin) + "-" + std::to_string(end - 1);
}

}  // namespace

std::optional<Template> parse_template(std::string_view id) {
  const std::optional<std::uint64_t> slices = take_number(id, "g.", kSlices);
  if (!slices) return std::nullopt;
  const std::optional<std::uint64_t> gib = take_number(id, "gb", 1 << 20);
  if (!gib || !id.empty()) return std::nullopt;
  return Template{static_cast<unsigned>(*slices), *gib * kGib};
}

std::uint64_t Partitions::memory_of(const Device& device) const {
  std::uint64_t bytes = 0;
  for (const Held& one : held_)
    if (one.device == device.uuid) bytes += one.size.memory_bytes;
  return bytes;
}

std::optional<unsigned> Partitions::find_slices(const Device& device, unsigned count) const {
  unsigned taken = 0;  // a bit for each slice
  for (const Held& one : held_)
    if (one.device == device.uuid) taken |= ((1u << one.size.slices) - 1) << one.first;
  for (unsigned first = 0; first + count <= kSlices; ++first)
    if ((taken & (((1u << count) - 1) << first)) == 0) return first;
  return std::nullopt;
}

Result<Partition> Partitions::assign(std::string_view template_id, const Device& device) {
  const std::optional<Template> size = parse_template(template_id);
  if (!size)
    return Status(Code::kInvalidArgument, "template " + std::string(template_id) +
                                              ": expected <N>g.<M>gb, N from 1 to 8 slices, M in GiB");
  if (device.visible.empty())
    return Status(Code::kUnsupported,
                  device.uuid + " has no number of its own, so no runtime can be told to use it");
  if (!device.simulated && device.compute_units < kSlices)
    return Status(Code::kUnsupported, device.uuid + " has not enough compute units that are known");
  const std::uint64_t used = memory_of(device);
  if (used > device.memory_bytes || size->memory_bytes > device.memory_bytes - used)
    return Status(Code::kResourceExhausted,
                  device.uuid + " has " +
                      std::to_string((device.memory_bytes - std::min(used, device.memory_bytes)) / kGib) +
                      " GiB left for partitions");
  const std::optional<unsigned> first = find_slices(device, size->slices);
  if (!first) return Status(Code::kResourceExhausted, device.uuid + " has no such run of free slices");
  Partition made;
  made.uuid = device.uuid + "-p" + std::to_string(next_++);
  made.variables = {choice_of(device), "TF_LIMIT=memory=" + std::to_string(size->memory_bytes)};
  if (!device.simulated) made.variables.push_back(unit_mask(device, *first, size->slices));
  held_.push_back({made.uuid, std::string(template_id), device.uuid, *first, *size});
  return made;
}

Status Partitions::remove(std::string_view id, const Device& device) {
  const auto found = std::find_if(held_.rbegin(), held_.rend(), [&](const Held& one) {
    return one.device == device.uuid && (one.uuid == id || one.template_id == id);
  });
  if (found == held_.rend())
    return {Code::kUnavailable, device.uuid + " has no partition " + std::string(id)};
  held_.erase(std::next(found).base());
  return Status::ok();
}

}  // namespace tf::provider
