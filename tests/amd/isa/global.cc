// SPDX-License-Identifier: Apache-2.0
// Global, flat and scratch: addresses, loads and stores.
#include "tests/amd/isa/global.h"

#include <cstdio>
#include <limits>

#include "tests/amd/isa/formats.h"

namespace tf::amd::isa {
namespace {

std::uint64_t sign_extended(std::int32_t offset) {
  return static_cast<std::uint64_t>(static_cast<std::int64_t>(offset));
}

// v[0:1], off; or v0, s[0:1].
void global_addresses(Wave& w, const Instruction& in, int address, int base, std::uint64_t (&to)[kLanes]) {
  const std::uint64_t offset = sign_extended(in.mods.offset);
  const Row* low = &w.v[in.op[address].index];
  const bool flat = base < 0;
  if (flat || in.op[base].kind == Operand::Kind::kOff) {
    const Row* high = low + 1;
    TF_LANE_LOOP
    for (int i = 0; i < kLanes; ++i) {
      to[i] = (low->lane[i] | static_cast<std::uint64_t>(high->lane[i]) << 32) + offset;
    }
    return;
  }
  const std::uint64_t start = w.pair(in.op[base].index) + offset;
  TF_LANE_LOOP
  for (int i = 0; i < kLanes; ++i) to[i] = start + low->lane[i];
}

// Most accesses of a wave lie in one allocation: it is asked for once. Addresses are compared as signed
// numbers, which is faster: one with bit 63 set is negative, and no allocation lies there.
bool in_one_allocation(Wave& w, const std::uint64_t (&address)[kLanes], unsigned bytes, bool write) {
  if (w.exec() == 0) return true;
  std::int64_t least = std::numeric_limits<std::int64_t>::max();
  std::int64_t most = std::numeric_limits<std::int64_t>::min();
  for (int i = 0; i < kLanes; ++i) {
    const auto here = static_cast<std::int64_t>(address[i]);
    const bool on = w.lanes.lane[i] != 0;
    const std::int64_t low = on ? here : std::numeric_limits<std::int64_t>::max();
    const std::int64_t high = on ? here : std::numeric_limits<std::int64_t>::min();
    least = low < least ? low : least;
    most = high > most ? high : most;
  }
  const auto begin = static_cast<std::uint64_t>(least);
  const std::uint64_t end = static_cast<std::uint64_t>(most) + bytes;
  if (least < 0 || end < begin) return false;
  return w.memory->in_last(begin, end - begin, write) ||
         w.memory->try_at(begin, end - begin, write) != nullptr;
}

// An offset of private memory: v0, off; off, s0; off, off.
void scratch_places(Wave& w, const Instruction& in, int address, int base, unsigned bytes, Places& places) {
  const Operand& vector = in.op[address];
  const Operand& uniform = in.op[base];
  std::uint64_t start = sign_extended(in.mods.offset);
  if (uniform.kind != Operand::Kind::kOff) start += scalar(w, in, uniform);
  const std::uint64_t origin = w.pair(w.processor->flat_scratch) - w.private_base;
  if (origin != 0) unsupported(in, "FLAT_SCRATCH of another wave");
  for (int i = 0; i < kLanes; ++i) {
    if (w.lanes.lane[i] == 0) continue;
    const std::uint32_t lane = vector.kind == Operand::Kind::kVector ? w.v[vector.index].lane[i] : 0;
    places.at[i] = private_at(w, i, start + lane, bytes);
  }
}

template <class Format, Space In>
void load(Wave& w, const Instruction& in) {
  Places places;
  global_places(w, in, In, 1, In == Space::kFlat ? -1 : 2, Format::kBytes, false, places);
  load_lanes<Format>(w, places.at, &w.v[in.op[0].index]);
}

template <class Format, Space In>
void store(Wave& w, const Instruction& in) {
  Places places;
  global_places(w, in, In, 0, In == Space::kFlat ? -1 : 2, Format::kBytes, true, places);
  store_lanes<Format>(w, places.at, &w.v[in.op[1].index]);
}

constexpr Type kA = Type::kAny;

#define TF_LOAD(name, ...)                                                                   \
  {"global_load_" name, &load<__VA_ARGS__, Space::kGlobal>, kOffset | kCache, {kA, kA, kA}}, \
      {"flat_load_" name, &load<__VA_ARGS__, Space::kFlat>, kOffset | kCache, {kA, kA}},     \
      {"scratch_load_" name, &load<__VA_ARGS__, Space::kScratch>, kOffset | kCache, {kA, kA, kA}},
#define TF_STORE(name, ...)                                                                    \
  {"global_store_" name, &store<__VA_ARGS__, Space::kGlobal>, kOffset | kCache, {kA, kA, kA}}, \
      {"flat_store_" name, &store<__VA_ARGS__, Space::kFlat>, kOffset | kCache, {kA, kA}},     \
      {"scratch_store_" name, &store<__VA_ARGS__, Space::kScratch>, kOffset | kCache, {kA, kA, kA}},

constexpr TableRow kRows[] = {
    TF_LOAD("dword", Words<1>) TF_LOAD("dwordx2", Words<2>) TF_LOAD("dwordx3", Words<3>) TF_LOAD(
        "dwordx4", Words<4>) TF_LOAD("ubyte", Small<std::uint8_t>) TF_LOAD("sbyte", Small<std::int8_t>)
        TF_LOAD("ushort", Small<std::uint16_t>) TF_LOAD("sshort", Small<std::int16_t>)
            TF_LOAD("ubyte_d16", Small<std::uint8_t, Half::kLow>) TF_LOAD("ubyte_d16_hi",
                                                                          Small<std::uint8_t, Half::kHigh>)
                TF_LOAD("sbyte_d16", Small<std::int8_t, Half::kLow>) TF_LOAD(
                    "sbyte_d16_hi", Small<std::int8_t, Half::kHigh>) TF_LOAD("short_d16",
                                                                             Small<std::uint16_t, Half::kLow>)
                    TF_LOAD("short_d16_hi", Small<std::uint16_t, Half::kHigh>) TF_LOAD(
                        "ubyte_d16 rdna", Small<std::uint8_t, Half::kLowOnly>)
                        TF_LOAD("ubyte_d16_hi rdna", Small<std::uint8_t, Half::kHighOnly>) TF_LOAD(
                            "sbyte_d16 rdna", Small<std::int8_t, Half::kLowOnly>)
                            TF_LOAD("sbyte_d16_hi rdna", Small<std::int8_t, Half::kHighOnly>) TF_LOAD(
                                "short_d16 rdna", Small<std::uint16_t, Half::kLowOnly>)
                                TF_LOAD("short_d16_hi rdna", Small<std::uint16_t, Half::kHighOnly>) TF_STORE(
                                    "dword", Words<1>) TF_STORE("dwordx2", Words<2>)
                                    TF_STORE("dwordx3", Words<3>) TF_STORE("dwordx4", Words<4>) TF_STORE(
                                        "byte", Small<std::uint8_t>) TF_STORE("short", Small<std::uint16_t>)
                                        TF_STORE("byte_d16_hi", Small<std::uint8_t, Half::kHigh>)
                                            TF_STORE("short_d16_hi", Small<std::uint16_t, Half::kHigh>)};

}  // namespace

std::uint8_t* private_at(Wave& w, int lane, std::uint64_t offset, unsigned bytes) {
  if (offset > w.private_bytes || bytes > w.private_bytes - offset) {
    char text[96];
    std::snprintf(text, sizeof text, "private memory: %u bytes at offset 0x%llx of %u", bytes,
                  static_cast<unsigned long long>(offset), w.private_bytes);
    throw Stop{FailureKind::kMemoryFault, text, offset};
  }
  return reinterpret_cast<std::uint8_t*>(w.private_base) +
         static_cast<std::uint64_t>(lane) * w.private_bytes + offset;
}

std::uint8_t* flat_at(Wave& w, int lane, std::uint64_t address, unsigned bytes, bool write) {
  const auto high = static_cast<std::uint32_t>(address >> 32);
  const auto low = static_cast<std::uint32_t>(address);
  if (high == kPrivateApertureHigh) return private_at(w, lane, low, bytes);
  if (high != kSharedApertureHigh) return w.memory->at(address, bytes, write);
  if (low > w.group->local_bytes || bytes > w.group->local_bytes - low) {
    throw Stop{FailureKind::kMemoryFault, "flat access outside of LDS", address};
  }
  return w.group->local.get() + low;
}

void global_places(Wave& w, const Instruction& in, Space space, int address, int base, unsigned bytes,
                   bool write, Places& places) {
  if (space == Space::kScratch) return scratch_places(w, in, address, base, bytes, places);
  std::uint64_t to[kLanes];
  global_addresses(w, in, address, base, to);
  if (in_one_allocation(w, to, bytes, write)) {
    std::memcpy(places.at, to, sizeof to);
    return;
  }
  for (int i = 0; i < kLanes; ++i) {
    if (w.lanes.lane[i] == 0) continue;
    places.at[i] =
        space == Space::kFlat ? flat_at(w, i, to[i], bytes, write) : w.memory->at(to[i], bytes, write);
  }
}

std::span<const TableRow> global_rows() { return kRows; }

}  // namespace tf::amd::isa
