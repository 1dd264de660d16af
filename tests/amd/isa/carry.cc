// SPDX-License-Identifier: Apache-2.0
// Instructions that read or write a bit of each lane beside a result: carries, v_cndmask, v_div_scale,
// v_mad_u64_u32.
#include "tests/amd/isa/division.h"
#include "tests/amd/isa/plain.h"

namespace tf::amd::isa {
namespace {

// The bits go to scalar registers; lanes that take no part, or that DPP switches off, give 0.
void set_bits(Wave& w, const Instruction& in, const Row& row, const Row& lanes) {
  w.set_mask(in.op[1].index, to_bits(row) & to_bits(lanes) & w.exec());
}

enum class Carry : std::uint8_t { kAdd, kSub, kSubRev };

// v_add_co_u32 and its kin: d, carry out, a, b, and, for kIn, carry in.
template <Carry How, bool In>
void carry(Wave& w, const Instruction& in) {
  Row room[2];
  const Row* first = row(w, in, in.op[2], 0, true, room[0]);
  const Row* second = row(w, in, in.op[3], 0, true, room[1]);
  if (How == Carry::kSubRev) std::swap(first, second);
  Row carries{};
  if (In) from_bits(scalar(w, in, in.op[4]), carries);
  Target target(w, in);
  std::uint32_t* out = target.low->lane;
  const std::uint32_t* mask = target.written->lane;
  TF_LANE_LOOP
  for (int i = 0; i < kLanes; ++i) {
    const std::uint32_t a = first->lane[i];
    const std::uint32_t b = second->lane[i];
    const std::uint32_t c = carries.lane[i];  // all ones or 0
    std::uint32_t result = 0;
    if constexpr (How == Carry::kAdd) {
      result = a + b - c;
      carries.lane[i] = result < a || (c != 0 && result == a) ? ~0U : 0U;
    } else {
      result = a - b + c;
      carries.lane[i] = a < b || (c != 0 && a == b) ? ~0U : 0U;
    }
    if (in.mods.clamp && carries.lane[i] != 0) result = How == Carry::kAdd ? ~0U : 0U;
    out[i] = merge(result, out[i], mask[i]);
  }
  if (in.post) write_back(w, in, target, Type::kU32);
  set_bits(w, in, carries, *target.lanes);
}

template <Carry How, bool In>
void plain_carry(Wave& w, const Instruction& in) {
  alignas(64) std::uint32_t room[2][2][kBlock];
  Lanes a = lanes_at<1>(w, in, How == Carry::kSubRev ? 3 : 2, room[0]);
  Lanes b = lanes_at<1>(w, in, How == Carry::kSubRev ? 2 : 3, room[1]);
  const std::uint64_t into = In ? scalar(w, in, in.op[4]) : 0;
  std::uint32_t* out = row_at(w, in, 0)->lane;
  std::uint64_t carries = 0;
  TF_LOOP_STAYS
  for (int at = 0; at < kLanes; at += kBlock) {
    alignas(64) std::uint32_t carried[kBlock];
    const auto into_block = static_cast<std::uint32_t>(into >> at);
    const std::uint32_t* mask = w.lanes.lane + at;
    TF_LANE_LOOP
    for (int i = 0; i < kBlock; ++i) {
      const std::uint32_t first = a.low[i];
      const std::uint32_t second = b.low[i];
      const std::uint32_t c = In ? 0U - (into_block >> i & 1U) : 0U;  // all ones or 0
      const std::uint32_t result = How == Carry::kAdd ? first + second - c : first - second + c;
      const bool over = How == Carry::kAdd ? result < first : first < second;
      const bool equal = How == Carry::kAdd ? result == first : first == second;
      carried[i] = over || (c != 0 && equal) ? ~0U : 0U;
      out[at + i] = merge(result, out[at + i], mask[i]);
    }
    carries |= bits_of(carried) << at;
    a.low += a.step;
    b.low += b.step;
  }
  w.set_mask(in.op[1].index, carries & w.exec());
}

// d, a, b, bits: b where the lane's bit is set.
template <Type Of>
void select(Wave& w, const Instruction& in) {
  Row room[2];
  const Row* first = row(w, in, in.op[1], 0, true, room[0]);
  const Row* second = row(w, in, in.op[2], 0, true, room[1]);
  Row bits;
  from_bits(scalar(w, in, in.op[3]), bits);
  Target target(w, in);
  std::uint32_t* out = target.low->lane;
  const std::uint32_t* mask = target.written->lane;
  TF_LANE_LOOP
  for (int i = 0; i < kLanes; ++i) {
    out[i] = merge(merge(second->lane[i], first->lane[i], bits.lane[i]), out[i], mask[i]);
  }
  if (in.post) write_back(w, in, target, Of);
}

void plain_select(Wave& w, const Instruction& in) {
  alignas(64) std::uint32_t room[2][2][kBlock];
  Lanes a = lanes_at<1>(w, in, 1, room[0]);
  Lanes b = lanes_at<1>(w, in, 2, room[1]);
  const std::uint64_t chosen = scalar(w, in, in.op[3]);
  std::uint32_t* out = row_at(w, in, 0)->lane;
  TF_LOOP_STAYS
  for (int at = 0; at < kLanes; at += kBlock) {
    const auto bits = static_cast<std::uint32_t>(chosen >> at);
    const std::uint32_t* mask = w.lanes.lane + at;
    TF_LANE_LOOP
    for (int i = 0; i < kBlock; ++i) {
      out[at + i] = merge(merge(b.low[i], a.low[i], 0U - (bits >> i & 1U)), out[at + i], mask[i]);
    }
    a.low += a.step;
    b.low += b.step;
  }
}

// d (two words), carry out, a, b, c (two words).
template <class S>
void multiply_add(Wave& w, const Instruction& in) {
  Row room[4];
  const Row* a = row(w, in, in.op[2], 0, true, room[0]);
  const Row* b = row(w, in, in.op[3], 0, true, room[1]);
  const Row* c_low = row(w, in, in.op[4], 0, false, room[2]);
  const Row* c_high = row(w, in, in.op[4], 1, true, room[3]);
  Row* out = &w.v[in.op[0].index];
  using Wide = std::conditional_t<std::is_signed_v<typename S::Value>, std::int64_t, std::uint64_t>;
  Row carries;
  TF_LANE_LOOP
  for (int i = 0; i < kLanes; ++i) {
    const std::uint64_t product = static_cast<std::uint64_t>(static_cast<Wide>(S::of(a->lane[i], 0)) *
                                                             static_cast<Wide>(S::of(b->lane[i], 0)));
    const std::uint64_t addend = U64::of(c_low->lane[i], c_high->lane[i]);
    const std::uint64_t sum = product + addend;
    carries.lane[i] = sum < addend ? ~0U : 0U;
    out[0].lane[i] = merge(U64::low(sum), out[0].lane[i], w.lanes.lane[i]);
    out[1].lane[i] = merge(U64::high(sum), out[1].lane[i], w.lanes.lane[i]);
  }
  set_bits(w, in, carries, w.lanes);
}

// d, which lanes v_div_fmas scales, value, denominator, numerator.
template <class F>
void scale(Wave& w, const Instruction& in) {
  apply_control(w, control_of<F>());
  const Row* low[3];
  const Row* high[3];
  Row room[3][2];
  fetch_rows<F, F, F>(w, in, 2, low, high, room, std::make_index_sequence<3>{});
  Row* out = &w.v[in.op[0].index];
  std::uint64_t scaled = 0;
  for (int i = 0; i < kLanes; ++i) {
    if (w.lanes.lane[i] == 0) continue;
    bool post = false;
    const auto at = [&](int k) { return F::of(low[k]->lane[i], high[k]->lane[i]); };
    const auto value = division_scale(at(0), at(1), at(2), post);
    if (post) scaled |= std::uint64_t{1} << i;
    out[0].lane[i] = F::low(value);
    if (F::kWords == 2) out[1].lane[i] = F::high(value);
  }
  w.set_mask(in.op[1].index, scaled);
}

// d, a, b, c; VCC says which lanes are scaled back.
template <class F>
void fmas(Wave& w, const Instruction& in) {
  apply_control(w, control_of<F>());
  const Row* low[3];
  const Row* high[3];
  Row room[3][2];
  fetch_rows<F, F, F>(w, in, 1, low, high, room, std::make_index_sequence<3>{});
  const std::uint64_t scaled = w.vcc();
  Target target(w, in);
  for (int i = 0; i < kLanes; ++i) {
    if (target.lanes->lane[i] == 0) continue;
    const auto at = [&](int k) { return F::of(low[k]->lane[i], high[k]->lane[i]); };
    const auto value = division_fmas(at(0), at(1), at(2), (scaled >> i & 1) != 0);
    target.low->lane[i] = F::low(value);
    if (F::kWords == 2) target.high->lane[i] = F::high(value);
  }
  if (in.post) write_back(w, in, target, F::kType);
}

constexpr Type kU = Type::kU32;
constexpr Type kM = Type::kMask;
constexpr std::uint32_t kCarry = kSdwa | kDpp | kClamp | kSaturates;

#define TF_CARRY(name, how, in, ...) \
  { name, &carry<how, in>, kCarry, {kU, kM, kU, kU, ##__VA_ARGS__}, &plain_carry<how, in> }
constexpr TableRow kRows[] = {
    TF_CARRY("v_add_co_u32", Carry::kAdd, false),
    TF_CARRY("v_sub_co_u32", Carry::kSub, false),
    TF_CARRY("v_subrev_co_u32", Carry::kSubRev, false),
    TF_CARRY("v_addc_co_u32", Carry::kAdd, true, kM),
    TF_CARRY("v_subb_co_u32", Carry::kSub, true, kM),
    TF_CARRY("v_subbrev_co_u32", Carry::kSubRev, true, kM),
    {"v_cndmask_b16", &select<Type::kU16>, 0, {Type::kU16, Type::kU16, Type::kU16, kM}},
    {"v_cndmask_b32", &select<Type::kU32>, kSdwa | kDpp, {kU, kU, kU, kM}, &plain_select},
    {"v_mad_u64_u32", &multiply_add<U32>, 0, {Type::kU64, kM, kU, kU, Type::kU64}},
    {"v_mad_i64_i32", &multiply_add<I32>, 0, {Type::kI64, kM, kU, kU, Type::kI64}},
    {"v_div_scale_f32", &scale<F32>, 0, {Type::kF32, kM, Type::kF32, Type::kF32, Type::kF32}},
    {"v_div_scale_f64", &scale<F64>, 0, {Type::kF64, kM, Type::kF64, Type::kF64, Type::kF64}},
    {"v_div_fmas_f32", &fmas<F32>, kClamp | kOmod, {Type::kF32, Type::kF32, Type::kF32, Type::kF32}},
    {"v_div_fmas_f64", &fmas<F64>, kClamp | kOmod, {Type::kF64, Type::kF64, Type::kF64, Type::kF64}},
};

}  // namespace

std::span<const TableRow> carry_rows() { return kRows; }

}  // namespace tf::amd::isa
