// SPDX-License-Identifier: Apache-2.0
// EXEC as lanes, the MODE register as the host's float control, and which memory a wave may touch.
#include "tests/amd/isa/wave.h"

#include <algorithm>
#include <cinttypes>
#include <cstdio>

namespace tf::amd::isa {
namespace {

constexpr std::uint32_t kDenormalsAreZero = 0x0040;
constexpr std::uint32_t kFlushToZero = 0x8000;
constexpr std::uint32_t kNoExceptions = 0x1f80;

// FP_ROUND: 0 nearest even, 1 up, 2 down, 3 to zero; MXCSR: 0 nearest even, 1 down, 2 up, 3 to zero.
// FP_DENORM: bit 0 allows denormal sources, bit 1 denormal results.
std::uint32_t control(std::uint32_t round, std::uint32_t denormals) {
  constexpr std::uint32_t kRound[4] = {0, 2, 1, 3};
  std::uint32_t bits = kNoExceptions | kRound[round] << 13;
  if ((denormals & 1) == 0) bits |= kDenormalsAreZero;
  if ((denormals & 2) == 0) bits |= kFlushToZero;
  return bits;
}

}  // namespace

void Mode::set(std::uint32_t new_bits) {
  bits = new_bits;
  control32 = control(bits & 3, bits >> 4 & 3);
  control64 = control(bits >> 2 & 3, bits >> 6 & 3);
  control_mad = control(bits & 3, 0);
  dx10_clamp = (bits >> 8 & 1) != 0;
  ieee = (bits >> 9 & 1) != 0;
}

void Wave::refresh_lanes() {
  const std::uint64_t mask = exec();
  for (int byte = 0; byte < 8; ++byte) {
    const std::uint32_t bits = static_cast<std::uint32_t>(mask >> (8 * byte)) & 0xff;
    for (int i = 0; i < 8; ++i) lanes.lane[8 * byte + i] = 0U - (bits >> i & 1U);
  }
}

std::uint8_t* MemoryView::try_at(std::uint64_t address, std::uint64_t bytes, bool write) {
  const std::uint64_t now = now_->load(std::memory_order_acquire);
  if (now != generation_) {
    ranges_ = {};
    generation_ = now;
  }
  const auto holds = [&](const AddressSpace::Range& range) {
    return address >= range.begin && address < range.end && bytes <= range.end - address;
  };
  auto found = std::find_if(ranges_.begin(), ranges_.end(), holds);
  if (found == ranges_.end()) {
    const std::optional<AddressSpace::Range> range = space_->find(address);
    if (!range || !holds(*range)) return nullptr;
    found = ranges_.end() - 1;
    *found = *range;
  }
  if (write && !found->writable) return nullptr;
  std::rotate(ranges_.begin(), found, found + 1);
  return reinterpret_cast<std::uint8_t*>(address);  // NOLINT: a device address is a host address
}

std::uint8_t* MemoryView::look_up(std::uint64_t address, std::uint64_t bytes, bool write) {
  if (std::uint8_t* there = try_at(address, bytes, write)) return there;
  char text[96];
  std::snprintf(text, sizeof text, "%s of %" PRIu64 " bytes at 0x%" PRIx64 ", outside of every allocation",
                write ? "write" : "read", bytes, address);
  throw Stop{FailureKind::kMemoryFault, text, address, 0};
}

void unsupported(const Instruction& in, std::string why) {
  throw Stop{FailureKind::kUnsupportedOperand,
             std::string(in.row == nullptr ? "" : in.row->name) + ": " + why};
}

}  // namespace tf::amd::isa
