// SPDX-License-Identifier: Apache-2.0
// Buffers (MUBUF) [CDNA2 chapter 8.1]. Outside of a buffer, loads give 0 and stores do nothing.
//
// The buffer of private memory adds the lane and is swizzled. Here each lane's private memory is contiguous,
// which no kernel can tell: it is reached by such buffers, scratch and flat accesses only.
#include "tests/amd/isa/buffer.h"

#include "tests/amd/isa/formats.h"
#include "tests/amd/isa/global.h"

namespace tf::amd::isa {
namespace {

// OOB_SELECT: 0 index and offset, 1 index, 3 offset from the buffer's begin [RDNA3 chapter 9.1.5.4].
void choose_bounds(const Instruction& in, const std::uint32_t* word, Buffer& buffer) {
  const std::uint32_t select = word[3] >> 28 & 3;
  if (select == 2 || (word[1] >> 30) != 0) unsupported(in, "swizzled buffer, or one without bounds");
  if (select == 3 && in.mods.idxen) unsupported(in, "index into a buffer whose bounds are of an offset");
  buffer.structured = select != 3;
  buffer.offset_counts = select == 0;
  buffer.offen_only = false;
}

}  // namespace

Buffer buffer_of(const Wave& w, const Instruction& in, const Operand& o) {
  const std::uint32_t* word = &w.s[o.index];
  Buffer buffer;
  buffer.base = word[0] | static_cast<std::uint64_t>(word[1] & 0xffff) << 32;
  buffer.stride = word[1] >> 16 & 0x3fff;
  buffer.records = word[2];
  const bool swizzles = word[1] >> 31 != 0;
  const bool adds_lane = (word[3] >> 23 & 1) != 0;
  buffer.is_private = swizzles && adds_lane;
  if (swizzles != adds_lane) unsupported(in, "swizzled buffer");
  buffer.structured = buffer.stride != 0;
  if (w.processor->buffers_say_bounds) choose_bounds(in, word, buffer);
  return buffer;
}

// Null where the lane is outside.
std::uint8_t* buffer_place(Wave& w, const Instruction& in, const Buffer& buffer, std::uint32_t soffset,
                           const Row* vaddr, int lane, unsigned first, unsigned bytes, bool write) {
  const std::uint32_t index = in.mods.idxen ? vaddr->lane[lane] : 0;
  const std::uint32_t voffset = in.mods.offen ? vaddr[in.mods.idxen ? 1 : 0].lane[lane] : 0;
  const std::uint64_t offset = std::uint64_t{voffset} + static_cast<std::uint32_t>(in.mods.offset) + first;
  if (buffer.is_private) {
    if (in.mods.idxen || soffset % kLanes != 0 || buffer.base != w.private_base)
      unsupported(in, "private buffer");
    return private_at(w, lane, soffset / kLanes + static_cast<std::uint32_t>(offset), bytes);
  }
  const bool offset_counts = buffer.offset_counts && (in.mods.offen || !buffer.offen_only);
  const bool outside = buffer.structured
                           ? index >= buffer.records || (offset_counts && offset + bytes > buffer.stride)
                           : offset + bytes + soffset > buffer.records;
  if (outside) return nullptr;
  return w.memory->at(buffer.base + soffset + std::uint64_t{index} * buffer.stride + offset, bytes, write);
}

std::uint8_t* place(Wave& w, const Instruction& in, const Buffer& buffer, std::uint32_t soffset, int lane,
                    unsigned first, unsigned bytes, bool write) {
  return buffer_place(w, in, buffer, soffset, &w.v[in.op[1].index], lane, first, bytes, write);
}

namespace {

// data, address, buffer, offset. Each word is inside or outside by itself.
template <class Format>
void load(Wave& w, const Instruction& in) {
  const Buffer buffer = buffer_of(w, in, in.op[2]);
  const auto soffset = static_cast<std::uint32_t>(scalar(w, in, in.op[3]));
  Row result[Format::kWords];
  Row* out = &w.v[in.op[0].index];
  for (int k = 0; k < Format::kWords; ++k) result[k] = out[k];
  constexpr unsigned kPart = Format::kBytes < 4 ? Format::kBytes : 4;
  using Part = std::conditional_t<(Format::kBytes > 4), Words<1>, Format>;
  for (int i = 0; i < kLanes; ++i) {
    if (w.lanes.lane[i] == 0) continue;
    for (int k = 0; k < Format::kWords; ++k) {
      const std::uint8_t* from = place(w, in, buffer, soffset, i, 4 * static_cast<unsigned>(k), kPart, false);
      if (from != nullptr) {
        Part::load(from, &result[k], i);
      } else {
        Part::zero(&result[k], i);
      }
    }
  }
  for (int k = 0; k < Format::kWords; ++k) out[k] = result[k];
}

template <class Format>
void store(Wave& w, const Instruction& in) {
  const Buffer buffer = buffer_of(w, in, in.op[2]);
  const auto soffset = static_cast<std::uint32_t>(scalar(w, in, in.op[3]));
  const Row* data = &w.v[in.op[0].index];
  constexpr unsigned kPart = Format::kBytes < 4 ? Format::kBytes : 4;
  using Part = std::conditional_t<(Format::kBytes > 4), Words<1>, Format>;
  for (int i = 0; i < kLanes; ++i) {
    if (w.lanes.lane[i] == 0) continue;
    for (int k = 0; k < Format::kWords; ++k) {
      std::uint8_t* to = place(w, in, buffer, soffset, i, 4 * static_cast<unsigned>(k), kPart, true);
      if (to != nullptr) Part::store(to, data + k, i);
    }
  }
}

// With glc the data's first registers get the value before.
template <class Op>
void atomic(Wave& w, const Instruction& in) {
  apply_control(w, sizeof(typename Op::Bits) == 8 ? Control::k64 : Control::k32);
  const Buffer buffer = buffer_of(w, in, in.op[2]);
  const auto soffset = static_cast<std::uint32_t>(scalar(w, in, in.op[3]));
  Row* data = &w.v[in.op[0].index];
  for (int i = 0; i < kLanes; ++i) {
    if (w.lanes.lane[i] == 0) continue;
    std::uint8_t* at = place(w, in, buffer, soffset, i, 0, Op::kBytes, true);
    if (reinterpret_cast<std::uint64_t>(at) % Op::kBytes != 0) {
      throw Stop{FailureKind::kMisaligned, "atomic", reinterpret_cast<std::uint64_t>(at)};
    }
    const auto old = at == nullptr ? 0 : Op::run(at, data, data + Op::kWords, i);
    if (in.mods.glc) Op::put(old, data, i);
  }
}

constexpr Type kA = Type::kAny;
constexpr std::uint32_t kMods = kOffset | kCache | kBufferMode;
#define TF_BUFFER(name, ...) {"buffer_" name, &__VA_ARGS__, kMods, {kA, kA, kA, kA}},
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using i32 = std::int32_t;
using i64 = std::int64_t;
#define TF_BUFFER_INTEGERS(bits, x2)                                    \
  TF_BUFFER("atomic_swap" x2, atomic<Atomic<SwapOp<u##bits>, u##bits>>) \
  TF_BUFFER("atomic_cmpswap" x2, atomic<CompareSwap<u##bits>>)          \
  TF_BUFFER("atomic_add" x2, atomic<Atomic<AddOp<u##bits>, u##bits>>)   \
  TF_BUFFER("atomic_sub" x2, atomic<Atomic<SubOp<u##bits>, u##bits>>)   \
  TF_BUFFER("atomic_smin" x2, atomic<Atomic<MinOp<i##bits>, i##bits>>)  \
  TF_BUFFER("atomic_smax" x2, atomic<Atomic<MaxOp<i##bits>, i##bits>>)  \
  TF_BUFFER("atomic_umin" x2, atomic<Atomic<MinOp<u##bits>, u##bits>>)  \
  TF_BUFFER("atomic_umax" x2, atomic<Atomic<MaxOp<u##bits>, u##bits>>)  \
  TF_BUFFER("atomic_and" x2, atomic<Atomic<AndOp<u##bits>, u##bits>>)   \
  TF_BUFFER("atomic_or" x2, atomic<Atomic<OrOp<u##bits>, u##bits>>)     \
  TF_BUFFER("atomic_xor" x2, atomic<Atomic<XorOp<u##bits>, u##bits>>)

constexpr TableRow kRows[] = {
    TF_BUFFER("load_dword", load<Words<1>>) TF_BUFFER("load_dwordx2", load<Words<2>>) TF_BUFFER(
        "load_dwordx3", load<Words<3>>) TF_BUFFER("load_dwordx4",
                                                  load<Words<4>>) TF_BUFFER("load_ubyte",
                                                                            load<Small<std::uint8_t>>)
        TF_BUFFER("load_sbyte", load<Small<std::int8_t>>) TF_BUFFER(
            "load_ushort", load<Small<std::uint16_t>>) TF_BUFFER("load_sshort", load<Small<std::int16_t>>)
            TF_BUFFER("load_ubyte_d16", load<Small<std::uint8_t, Half::kLow>>) TF_BUFFER(
                "load_ubyte_d16_hi",
                load<Small<std::uint8_t,
                           Half::kHigh>>) TF_BUFFER("load_sbyte_d16", load<Small<std::int8_t, Half::kLow>>)
                TF_BUFFER("load_sbyte_d16_hi", load<Small<std::int8_t, Half::kHigh>>) TF_BUFFER(
                    "load_short_d16",
                    load<Small<
                        std::uint16_t,
                        Half::kLow>>) TF_BUFFER("load_short_d16_hi", load<Small<std::uint16_t, Half::kHigh>>)
                    TF_BUFFER("load_ubyte_d16 rdna", load<Small<std::uint8_t, Half::kLowOnly>>) TF_BUFFER(
                        "load_ubyte_d16_hi rdna",
                        load<Small<std::uint8_t, Half::kHighOnly>>)
                        TF_BUFFER("load_sbyte_d16 rdna", load<Small<std::int8_t, Half::kLowOnly>>) TF_BUFFER(
                            "load_sbyte_d16_hi rdna",
                            load<Small<std::int8_t, Half::kHighOnly>>)
                            TF_BUFFER("load_short_d16 rdna", load<Small<std::uint16_t, Half::kLowOnly>>)
                                TF_BUFFER("load_short_d16_hi rdna",
                                          load<Small<std::uint16_t, Half::kHighOnly>>)
                                    TF_BUFFER("store_dword", store<Words<1>>) TF_BUFFER(
                                        "store_dwordx2",
                                        store<Words<2>>) TF_BUFFER("store_dwordx3", store<Words<3>>)
                                        TF_BUFFER("store_dwordx4", store<Words<4>>) TF_BUFFER(
                                            "store_byte",
                                            store<Small<std::uint8_t>>)
                                            TF_BUFFER("store_short", store<Small<std::uint16_t>>) TF_BUFFER(
                                                "store_byte_d16_hi",
                                                store<Small<std::uint8_t, Half::kHigh>>)
                                                TF_BUFFER(
                                                    "store_short_d16_hi",
                                                    store<
                                                        Small<std::uint16_t,
                                                              Half::kHigh>>) TF_BUFFER_INTEGERS(32, "")
                                                    TF_BUFFER_INTEGERS(64, "_x2") TF_BUFFER(
                                                        "atomic_add_f32",
                                                        atomic<Atomic<AddOp<float>, float>>)
                                                        TF_BUFFER("atomic_min_f32",
                                                                  atomic<Atomic<NumberMinOp<float>, float>>)
                                                            TF_BUFFER(
                                                                "atomic_max_f32",
                                                                atomic<Atomic<NumberMaxOp<float>, float>>)
                                                                TF_BUFFER(
                                                                    "atomic_pk_add_f16",
                                                                    atomic<Atomic<PackedHalfAddOp, u32>>)
                                                                    TF_BUFFER(
                                                                        "atomic_add_f64",
                                                                        atomic<Atomic<AddOp<double>, double>>)
                                                                        TF_BUFFER(
                                                                            "atomic_min_f64",
                                                                            atomic<Atomic<NumberMinOp<double>,
                                                                                          double>>)
                                                                            TF_BUFFER("atomic_max_f64",
                                                                                      atomic<Atomic<
                                                                                          NumberMaxOp<double>,
                                                                                          double>>)};

}  // namespace

std::span<const TableRow> buffer_rows() { return kRows; }

}  // namespace tf::amd::isa
