// SPDX-License-Identifier: Apache-2.0
// Atomics of global memory and flat addresses: atomics of the host, for all threads of the process.
#include "tests/amd/isa/formats.h"
#include "tests/amd/isa/global.h"

namespace tf::amd::isa {
namespace {

// [d,] address, data [, base]; the data of a compare-and-swap are what is written, then what is compared.
template <class Op, Space In, bool Returns>
void atomic(Wave& w, const Instruction& in) {
  apply_control(w, sizeof(typename Op::Bits) == 8 ? Control::k64 : Control::k32);
  constexpr int kFirst = Returns ? 1 : 0;
  Places places;
  global_places(w, in, In, kFirst, In == Space::kFlat ? -1 : kFirst + 2, Op::kBytes, true, places);
  const Row* data = &w.v[in.op[kFirst + 1].index];
  for (int i = 0; i < kLanes; ++i) {
    if (w.lanes.lane[i] == 0) continue;
    const auto address = reinterpret_cast<std::uint64_t>(places.at[i]);
    if (address % Op::kBytes != 0) throw Stop{FailureKind::kMisaligned, "atomic", address};
    const auto old = Op::run(places.at[i], data, data + Op::kWords, i);
    if (Returns) Op::put(old, &w.v[in.op[0].index], i);
  }
}

constexpr Type kA = Type::kAny;
constexpr std::uint32_t kMods = kOffset | kCache;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using i32 = std::int32_t;
using i64 = std::int64_t;

// " glc" marks the form that returns the value before.
#define TF_GLOBAL(name, ...)                                                                               \
  {"global_atomic_" name, &atomic<__VA_ARGS__, Space::kGlobal, false>, kMods, {kA, kA, kA}},               \
      {"global_atomic_" name " glc", &atomic<__VA_ARGS__, Space::kGlobal, true>, kMods, {kA, kA, kA, kA}}, \
      {"flat_atomic_" name, &atomic<__VA_ARGS__, Space::kFlat, false>, kMods, {kA, kA}},                   \
      {"flat_atomic_" name " glc", &atomic<__VA_ARGS__, Space::kFlat, true>, kMods, {kA, kA, kA}},
#define TF_GLOBAL_INTEGERS(bits, x2)                     \
  TF_GLOBAL("swap" x2, Atomic<SwapOp<u##bits>, u##bits>) \
  TF_GLOBAL("cmpswap" x2, CompareSwap<u##bits>)          \
  TF_GLOBAL("add" x2, Atomic<AddOp<u##bits>, u##bits>)   \
  TF_GLOBAL("sub" x2, Atomic<SubOp<u##bits>, u##bits>)   \
  TF_GLOBAL("smin" x2, Atomic<MinOp<i##bits>, i##bits>)  \
  TF_GLOBAL("smax" x2, Atomic<MaxOp<i##bits>, i##bits>)  \
  TF_GLOBAL("umin" x2, Atomic<MinOp<u##bits>, u##bits>)  \
  TF_GLOBAL("umax" x2, Atomic<MaxOp<u##bits>, u##bits>)  \
  TF_GLOBAL("and" x2, Atomic<AndOp<u##bits>, u##bits>)   \
  TF_GLOBAL("or" x2, Atomic<OrOp<u##bits>, u##bits>)     \
  TF_GLOBAL("xor" x2, Atomic<XorOp<u##bits>, u##bits>)   \
  TF_GLOBAL("inc" x2, Atomic<IncOp<u##bits>, u##bits>)   \
  TF_GLOBAL("dec" x2, Atomic<DecOp<u##bits>, u##bits>)

constexpr TableRow kRows[] = {TF_GLOBAL_INTEGERS(32, "") TF_GLOBAL_INTEGERS(64, "_x2") TF_GLOBAL(
    "add_f32", Atomic<AddOp<float>, float>) TF_GLOBAL("min_f32", Atomic<NumberMinOp<float>, float>)
                                  TF_GLOBAL("max_f32", Atomic<NumberMaxOp<float>, float>)
                                      TF_GLOBAL("pk_add_f16", Atomic<PackedHalfAddOp, u32>)
                                          TF_GLOBAL("add_f64", Atomic<AddOp<double>, double>)
                                              TF_GLOBAL("min_f64", Atomic<NumberMinOp<double>, double>)
                                                  TF_GLOBAL("max_f64", Atomic<NumberMaxOp<double>, double>)};

}  // namespace

std::span<const TableRow> global_atomic_rows() { return kRows; }

}  // namespace tf::amd::isa
