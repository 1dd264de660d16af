// SPDX-License-Identifier: Apache-2.0
// LDS: atomics. The waves of a work-group take turns, so nothing else is in the midst of one.
#include "tests/amd/isa/formats.h"
#include "tests/amd/isa/lanes.h"

namespace tf::amd::isa {
namespace {

// [d,] address, data [, second data]. ds_cmpst has what it compares first, ds_cmpstore second.
enum class Data : std::uint8_t { kOne, kComparedFirst, kComparedLast };
template <class Op, bool Returns, Data Order>
void atomic(Wave& w, const Instruction& in) {
  apply_control(w, sizeof(typename Op::Bits) == 8 ? Control::k64 : Control::k32);
  constexpr int kFirst = Returns ? 1 : 0;
  const Row address = w.v[in.op[kFirst].index];
  const Row* data = &w.v[in.op[kFirst + (Order == Data::kComparedFirst ? 2 : 1)].index];
  const Row* second = &w.v[in.op[kFirst + (Order == Data::kComparedLast ? 2 : 1)].index];
  const auto offset = static_cast<std::uint32_t>(in.mods.offset);
  const std::uint32_t size = w.group->local_bytes;
  for (int i = 0; i < kLanes; ++i) {
    if (w.lanes.lane[i] == 0) continue;
    const std::uint32_t at = address.lane[i] + offset;
    if (at % Op::kBytes != 0) throw Stop{FailureKind::kMisaligned, "LDS atomic", at};
    const bool inside = at <= size && Op::kBytes <= size - at;
    const auto old = inside ? Op::run(w.group->local.get() + at, data, second, i) : 0;
    if (Returns) Op::put(old, &w.v[in.op[0].index], i);
  }
}

// d: how many lanes take part are added to, or taken from, a counter; all of them get its value before.
template <bool Takes>
void append(Wave& w, const Instruction& in) {
  const std::uint32_t at = (w.s[kM0] >> 16) + static_cast<std::uint32_t>(in.mods.offset);
  if (at % 4 != 0) throw Stop{FailureKind::kMisaligned, "LDS counter", at};
  std::uint32_t old = 0;
  if (at <= w.group->local_bytes && w.group->local_bytes - at >= 4) {
    auto* counter = reinterpret_cast<std::uint32_t*>(w.group->local.get() + at);
    const auto lanes = static_cast<std::uint32_t>(std::popcount(w.exec()));
    old = *counter;
    *counter = Takes ? old - lanes : old + lanes;
  }
  Row& out = w.v[in.op[0].index];
  for (int i = 0; i < kLanes; ++i) out.lane[i] = merge(old, out.lane[i], w.lanes.lane[i]);
}

constexpr Type kA = Type::kAny;
constexpr Type kU = Type::kU32;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using i32 = std::int32_t;
using i64 = std::int64_t;

// ds_NAME_TYPE and ds_NAME_rtn_TYPE.
#define TF_LOCAL(name, suffix, ...)                                                    \
  {"ds_" name "_" suffix, &atomic<__VA_ARGS__, false, Data::kOne>, kOffset, {kU, kA}}, \
      {"ds_" name "_rtn_" suffix, &atomic<__VA_ARGS__, true, Data::kOne>, kOffset, {kA, kU, kA}},
#define TF_LOCAL_COMPARES(name, bits, order)                                                   \
  {name "_b" #bits, &atomic<CompareSwap<u##bits>, false, Data::order>, kOffset, {kU, kA, kA}}, \
      {name "_rtn_b" #bits, &atomic<CompareSwap<u##bits>, true, Data::order>, kOffset, {kA, kU, kA, kA}},
#define TF_LOCAL_INTEGERS(bits)                                       \
  TF_LOCAL("add", "u" #bits, Atomic<AddOp<u##bits>, u##bits>)         \
  TF_LOCAL("sub", "u" #bits, Atomic<SubOp<u##bits>, u##bits>)         \
  TF_LOCAL("rsub", "u" #bits, Atomic<ReverseSubOp<u##bits>, u##bits>) \
  TF_LOCAL("inc", "u" #bits, Atomic<IncOp<u##bits>, u##bits>)         \
  TF_LOCAL("dec", "u" #bits, Atomic<DecOp<u##bits>, u##bits>)         \
  TF_LOCAL("min", "i" #bits, Atomic<MinOp<i##bits>, i##bits>)         \
  TF_LOCAL("max", "i" #bits, Atomic<MaxOp<i##bits>, i##bits>)         \
  TF_LOCAL("min", "u" #bits, Atomic<MinOp<u##bits>, u##bits>)         \
  TF_LOCAL("max", "u" #bits, Atomic<MaxOp<u##bits>, u##bits>)         \
  TF_LOCAL("and", "b" #bits, Atomic<AndOp<u##bits>, u##bits>)         \
  TF_LOCAL("or", "b" #bits, Atomic<OrOp<u##bits>, u##bits>)           \
  TF_LOCAL("xor", "b" #bits, Atomic<XorOp<u##bits>, u##bits>){        \
      "ds_wrxchg_rtn_b" #bits,                                        \
      &atomic<Atomic<SwapOp<u##bits>, u##bits>, true, Data::kOne>,    \
      kOffset,                                                        \
      {kA, kU, kA}},                                                  \
      TF_LOCAL_COMPARES("ds_cmpst", bits, kComparedFirst)             \
          TF_LOCAL_COMPARES("ds_cmpstore", bits, kComparedLast)

constexpr TableRow kRows[] = {
    TF_LOCAL_INTEGERS(32) TF_LOCAL_INTEGERS(64) TF_LOCAL("add", "f32", Atomic<AddOp<float>, float>)
        TF_LOCAL("min", "f32", Atomic<NumberMinOp<float>, float>)
            TF_LOCAL("max", "f32", Atomic<NumberMaxOp<float>, float>)
                TF_LOCAL("pk_add", "f16", Atomic<PackedHalfAddOp, u32>)
                    TF_LOCAL("add", "f64", Atomic<AddOp<double>, double>)
                        TF_LOCAL("min", "f64", Atomic<NumberMinOp<double>, double>)
                            TF_LOCAL("max", "f64", Atomic<NumberMaxOp<double>, double>){
                                "ds_append", &append<false>, kOffset, {kU}},
    {"ds_consume", &append<true>, kOffset, {kU}},
};

}  // namespace

std::span<const TableRow> local_atomic_rows() { return kRows; }

}  // namespace tf::amd::isa
