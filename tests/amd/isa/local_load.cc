// SPDX-License-Identifier: Apache-2.0
// Loads from memory to LDS: lane i's word goes to M0 + offset + 4 * i, whichever lanes take part [CDNA3
// chapters 9.1.9 and 10.3].
#include "tests/amd/isa/buffer.h"
#include "tests/amd/isa/formats.h"
#include "tests/amd/isa/global.h"
#include "tests/amd/isa/names.h"

namespace tf::amd::isa {
namespace {

// Outside of the work-group's part nothing is written.
void put(Wave& w, const Instruction& in, int lane, std::uint32_t word) {
  const std::uint32_t at =
      (w.s[kM0] & 0xffff) + static_cast<std::uint32_t>(in.mods.offset) + 4 * static_cast<std::uint32_t>(lane);
  if (at % 4 != 0) throw Stop{FailureKind::kMisaligned, "load into LDS", at};
  if (at <= w.group->local_bytes && w.group->local_bytes - at >= sizeof word)
    std::memcpy(w.group->local.get() + at, &word, sizeof word);
}

// address, base
template <class Format, Space In>
void load_global(Wave& w, const Instruction& in) {
  Places places;
  global_places(w, in, In, 0, 1, Format::kBytes, false, places);
  Row words;
  load_lanes<Format>(w, places.at, &words);
  for (int i = 0; i < kLanes; ++i) {
    if (w.lanes.lane[i] != 0) put(w, in, i, words.lane[i]);
  }
}

// address, buffer, offset
template <class Format>
void load_buffer(Wave& w, const Instruction& in) {
  const Buffer buffer = buffer_of(w, in, in.op[1]);
  const auto soffset = static_cast<std::uint32_t>(scalar(w, in, in.op[2]));
  Row words{};
  for (int i = 0; i < kLanes; ++i) {
    if (w.lanes.lane[i] == 0) continue;
    const std::uint8_t* from =
        buffer_place(w, in, buffer, soffset, &w.v[in.op[0].index], i, 0, Format::kBytes, false);
    if (from != nullptr) Format::load(from, &words, i);
    put(w, in, i, words.lane[i]);
  }
}

constexpr Type kA = Type::kAny;
constexpr std::uint32_t kBuffer = kOffset | kCache | kBufferMode | kLds;
#define TF_LOADS(name, ...)                                                                               \
  {"global_load_lds_" name, &load_global<__VA_ARGS__, Space::kGlobal>, kOffset | kCache, {kA, kA}},       \
      {"scratch_load_lds_" name, &load_global<__VA_ARGS__, Space::kScratch>, kOffset | kCache, {kA, kA}}, \
      {"buffer_load_" name " lds", &load_buffer<__VA_ARGS__>, kBuffer, {kA, kA, kA}},
// clang-format off
constexpr TableRow kRows[] = {
    TF_LOADS("dword", Words<1>)
    TF_LOADS("ubyte", Small<std::uint8_t>)
    TF_LOADS("sbyte", Small<std::int8_t>)
    TF_LOADS("ushort", Small<std::uint16_t>)
    TF_LOADS("sshort", Small<std::int16_t>)
};
// clang-format on

}  // namespace

std::span<const TableRow> local_load_rows() { return kRows; }

}  // namespace tf::amd::isa
