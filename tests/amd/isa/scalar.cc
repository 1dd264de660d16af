// SPDX-License-Identifier: Apache-2.0
// Scalar arithmetic and comparisons, and what saves EXEC.
#include <cstring>

#include "tests/amd/isa/arithmetic.h"
#include "tests/amd/isa/plain.h"

namespace tf::amd::isa {
namespace {

std::uint64_t field(std::uint64_t x, std::uint32_t offset, std::uint32_t width) {
  return width >= 64 ? x >> offset : x >> offset & ((std::uint64_t{1} << width) - 1);
}
std::int64_t signed_field(std::uint64_t x, std::uint32_t offset, std::uint32_t width, std::uint32_t bits) {
  if (width == 0) return 0;
  const std::uint32_t there = std::min(width, bits - offset);
  const std::uint64_t value = field(x, offset, there);
  return static_cast<std::int64_t>(value << (64 - there)) >> (64 - there);
}
std::uint32_t magnitude(std::uint32_t x) { return x >> 31 != 0 ? 0U - x : x; }
template <class T>
T whole_quads(T x) {
  T result = 0;
  for (unsigned i = 0; i < 8 * sizeof(T); i += 4) {
    if ((x >> i & 15) != 0) result |= T{15} << i;
  }
  return result;
}
template <class T>
T quads(T x) {
  T result = 0;
  for (unsigned i = 0; i < 8 * sizeof(T); i += 4) result |= T{(x >> i & 15) != 0 ? 1U : 0U} << (i / 4);
  return result;
}
std::uint64_t doubled_bits(std::uint32_t x) {
  std::uint64_t result = 0;
  for (int i = 0; i < 32; ++i) result |= std::uint64_t{x >> i & 1} * 3 << (2 * i);
  return result;
}

template <class D>
void put(Wave& w, const Operand& to, typename D::Value value) {
  if constexpr (D::kWords == 2) {
    w.set_pair(to.index, static_cast<std::uint64_t>(value));
  } else {
    w.set(to.index, static_cast<std::uint32_t>(value));
  }
}
template <class S>
typename S::Value get(const Wave& w, const Instruction& in, int which) {
  return static_cast<typename S::Value>(scalar(w, in, in.op[which]));
}

template <class Op, class D, class A, class B>
void two(Wave& w, const Instruction& in) {
  bool scc = w.scc;
  const typename D::Value d = Op::run(get<A>(w, in, 1), get<B>(w, in, 2), scc);
  put<D>(w, in.op[0], d);
  w.scc = scc;
}
template <class Op, class D, class A>
void one(Wave& w, const Instruction& in) {
  bool scc = w.scc;
  const typename D::Value d = Op::run(get<A>(w, in, 1), scc);
  put<D>(w, in.op[0], d);
  w.scc = scc;
}
template <class Op, class A, class B>
void test(Wave& w, const Instruction& in) {
  w.scc = Op::run(get<A>(w, in, 0), get<B>(w, in, 1));
}

// The same on plain operands.
template <class S>
typename S::Value plain(const Wave& w, const Instruction& in, std::size_t which) {
  std::conditional_t<S::kWords == 2, std::uint64_t, std::uint32_t> bits;
  std::memcpy(&bits, scalar_at(w, in, which), sizeof bits);
  return static_cast<typename S::Value>(bits);
}
template <class D>
void put_plain(Wave& w, const Instruction& in, typename D::Value value) {
  const auto bits = static_cast<std::conditional_t<D::kWords == 2, std::uint64_t, std::uint32_t>>(value);
  std::memcpy(reinterpret_cast<char*>(&w) + in.at[0], &bits, sizeof bits);
}
template <class Op, class D, class A, class B>
void plain_two(Wave& w, const Instruction& in) {
  bool scc = w.scc;
  put_plain<D>(w, in, Op::run(plain<A>(w, in, 1), plain<B>(w, in, 2), scc));
  w.scc = scc;
}
template <class Op, class D, class A>
void plain_one(Wave& w, const Instruction& in) {
  bool scc = w.scc;
  put_plain<D>(w, in, Op::run(plain<A>(w, in, 1), scc));
  w.scc = scc;
}
template <class Op, class A, class B>
void plain_test(Wave& w, const Instruction& in) {
  w.scc = Op::run(plain<A>(w, in, 0), plain<B>(w, in, 1));
}

#define P2(name, D, A, B, after, ...)                                         \
  struct name##_op {                                                          \
    static D::Value run(A::Value a, [[maybe_unused]] B::Value b, bool& scc) { \
      const D::Value d = static_cast<D::Value>(__VA_ARGS__);                  \
      scc = after;                                                            \
      return d;                                                               \
    }                                                                         \
  };
#define P1(name, D, A, after, ...)                                \
  struct name##_op {                                              \
    static D::Value run(A::Value a, [[maybe_unused]] bool& scc) { \
      const D::Value d = static_cast<D::Value>(__VA_ARGS__);      \
      scc = after;                                                \
      return d;                                                   \
    }                                                             \
  };
#define C2(name, A, B, ...)                                         \
  struct name##_op {                                                \
    static bool run(A::Value a, B::Value b) { return __VA_ARGS__; } \
  };
#include "tests/amd/isa/scalar.inc"
#undef P2
#undef P1
#undef C2

// d = EXEC, then EXEC = source op EXEC.
enum class Save : std::uint8_t { kAnd, kOr, kXor, kAndN2, kOrN2, kNand, kNor, kXnor, kAndN1, kOrN1 };
template <Save How>
std::uint64_t combine(std::uint64_t s, std::uint64_t exec) {
  switch (How) {
    case Save::kAnd: return s & exec;
    case Save::kOr: return s | exec;
    case Save::kXor: return s ^ exec;
    case Save::kAndN2: return s & ~exec;
    case Save::kOrN2: return s | ~exec;
    case Save::kNand: return ~(s & exec);
    case Save::kNor: return ~(s | exec);
    case Save::kXnor: return ~(s ^ exec);
    case Save::kAndN1: return ~s & exec;
    case Save::kOrN1: return ~s | exec;
  }
  return 0;
}
template <Save How, class D, bool WritesBoth>
void save_exec(Wave& w, const Instruction& in) {
  const auto before = static_cast<typename D::Value>(w.pair(kExecLo));
  const auto after = static_cast<typename D::Value>(combine<How>(scalar(w, in, in.op[1]), before));
  put<D>(w, in.op[0], WritesBoth ? after : before);
  Operand exec;
  exec.index = kExecLo;
  put<D>(w, exec, after);
  w.scc = after != 0;
}

void bit_set(Wave& w, const Instruction& in, bool on, bool wide) {
  const int index = in.op[0].index;
  const std::uint64_t bit = std::uint64_t{1} << (scalar(w, in, in.op[1]) & (wide ? 63 : 31));
  const std::uint64_t before = wide ? w.pair(index) : w.s[index];
  const std::uint64_t after = on ? before | bit : before & ~bit;
  if (wide) {
    w.set_pair(index, after);
  } else {
    w.set(index, static_cast<std::uint32_t>(after));
  }
}
template <bool On, bool Wide>
void set_bit(Wave& w, const Instruction& in) {
  bit_set(w, in, On, Wide);
}

void conditional_move(Wave& w, const Instruction& in) {
  if (!w.scc) return;
  if (in.op[0].count == 2) {
    w.set_pair(in.op[0].index, scalar(w, in, in.op[1]));
  } else {
    w.set(in.op[0].index, static_cast<std::uint32_t>(scalar(w, in, in.op[1])));
  }
}

// A number of 16 bits, extended as `Signed` says.
template <bool Signed>
std::uint32_t number16(const Instruction& in, int which) {
  const std::uint32_t bits = static_cast<std::uint32_t>(in.op[which].value) & 0xffff;
  return Signed ? static_cast<std::uint32_t>(sign_bits(bits, 16)) : bits;
}
void move_number(Wave& w, const Instruction& in) { w.set(in.op[0].index, number16<true>(in, 1)); }
void conditional_number(Wave& w, const Instruction& in) {
  if (w.scc) w.set(in.op[0].index, number16<true>(in, 1));
}
void add_number(Wave& w, const Instruction& in) {
  const std::uint32_t a = w.s[in.op[0].index];
  const std::uint32_t b = number16<true>(in, 1);
  w.scc = (~(a ^ b) & (a ^ (a + b))) >> 31 != 0;
  w.set(in.op[0].index, a + b);
}
void multiply_number(Wave& w, const Instruction& in) {
  w.set(in.op[0].index, w.s[in.op[0].index] * number16<true>(in, 1));
}
template <class Op, class T>
void compare_number(Wave& w, const Instruction& in) {
  constexpr bool kSigned = std::is_signed_v<typename T::Value>;
  w.scc = Op::run(static_cast<typename T::Value>(scalar(w, in, in.op[0])),
                  static_cast<typename T::Value>(number16<kSigned>(in, 1)));
}

#define P2(name, D, A, B, after, ...) \
  {#name, &two<name##_op, D, A, B>, 0, {D::kType, A::kType, B::kType}, &plain_two<name##_op, D, A, B>},
#define P1(name, D, A, after, ...) \
  {#name, &one<name##_op, D, A>, 0, {D::kType, A::kType}, &plain_one<name##_op, D, A>},
#define C2(name, A, B, ...) \
  {#name, &test<name##_op, A, B>, kNoResult, {A::kType, B::kType}, &plain_test<name##_op, A, B>},
#define TF_SAVES(name, how, both)                                                    \
  {"s_" name "_b64", &save_exec<Save::how, U64, both>, 0, {Type::kU64, Type::kU64}}, \
      {"s_" name "_b32", &save_exec<Save::how, U32, both>, 0, {Type::kU32, Type::kU32}},
#define TF_SAVE(name, how) TF_SAVES(name "_saveexec", how, false)
#define TF_COMPARE_NUMBER(op, T, suffix)           \
  {"s_cmpk_" #op "_" #suffix,                      \
   &compare_number<s_cmp_##op##_##suffix##_op, T>, \
   kNoResult,                                      \
   {Type::kU32, Type::kLiteral}},
#define TF_COMPARE_NUMBERS(T, suffix) \
  TF_COMPARE_NUMBER(eq, T, suffix)    \
  TF_COMPARE_NUMBER(lg, T, suffix)    \
  TF_COMPARE_NUMBER(gt, T, suffix)    \
  TF_COMPARE_NUMBER(ge, T, suffix) TF_COMPARE_NUMBER(lt, T, suffix) TF_COMPARE_NUMBER(le, T, suffix)

constexpr TableRow kRows[] = {
#include "tests/amd/isa/scalar.inc"
    TF_COMPARE_NUMBERS(I32, i32) TF_COMPARE_NUMBERS(U32, u32) TF_SAVE("and", kAnd) TF_SAVE("or", kOr)
        TF_SAVE("xor", kXor) TF_SAVE("andn2", kAndN2) TF_SAVE("orn2", kOrN2) TF_SAVE("nand", kNand)
            TF_SAVE("nor", kNor) TF_SAVE("xnor", kXnor) TF_SAVE("andn1", kAndN1) TF_SAVE("orn1", kOrN1)
                TF_SAVES("andn1_wrexec", kAndN1, true) TF_SAVES("andn2_wrexec", kAndN2, true){
                    "s_bitset0_b32", &set_bit<false, false>, 0, {Type::kU32, Type::kU32}},
    {"s_bitset1_b32", &set_bit<true, false>, 0, {Type::kU32, Type::kU32}},
    {"s_bitset0_b64", &set_bit<false, true>, 0, {Type::kU64, Type::kU32}},
    {"s_bitset1_b64", &set_bit<true, true>, 0, {Type::kU64, Type::kU32}},
    {"s_cmov_b32", &conditional_move, 0, {Type::kU32, Type::kU32}},
    {"s_cmov_b64", &conditional_move, 0, {Type::kU64, Type::kU64}},
    {"s_movk_i32", &move_number, 0, {Type::kU32, Type::kLiteral}},
    {"s_cmovk_i32", &conditional_number, 0, {Type::kU32, Type::kLiteral}},
    {"s_addk_i32", &add_number, 0, {Type::kU32, Type::kLiteral}},
    {"s_mulk_i32", &multiply_number, 0, {Type::kU32, Type::kLiteral}},
};

}  // namespace

std::span<const TableRow> scalar_rows() { return kRows; }

}  // namespace tf::amd::isa
