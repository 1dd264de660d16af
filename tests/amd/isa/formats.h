// SPDX-License-Identifier: Apache-2.0
// What a load or store moves between memory and the registers of one lane, and what an atomic does there.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>

#include "tests/amd/isa/arithmetic.h"

namespace tf::amd::isa {

using FourWords = std::uint32_t __attribute__((vector_size(16)));

// Whole: no other thread sees a part of it. Kernels count on that where the address is a multiple of the size:
// rocPRIM's look-back has a flag and its value in 8 or 16 bytes. A compiler may split a memcpy, but not a
// volatile access. (Of 16 bytes: on processors with AVX, Intel SDM volume 3A, section 9.1.1.)
template <class T>
bool is_aligned(const std::uint8_t* address) {
  return reinterpret_cast<std::uintptr_t>(address) % sizeof(T) == 0;
}
template <class T>
T load_whole(const std::uint8_t* from) {
  T value;
  if (is_aligned<T>(from)) return *reinterpret_cast<const volatile T*>(from);
  std::memcpy(&value, from, sizeof value);
  return value;
}
template <class T>
void store_whole(std::uint8_t* to, T value) {
  if (is_aligned<T>(to))
    *reinterpret_cast<volatile T*>(to) = value;
  else
    std::memcpy(to, &value, sizeof value);
}

template <int N>
struct WholeWords {
  std::uint32_t word[N];
  static WholeWords load(const std::uint8_t* from) {
    WholeWords all;
    std::memcpy(&all, from, sizeof all);
    return all;
  }
  void store(std::uint8_t* to) const { std::memcpy(to, this, sizeof *this); }
};
template <>
inline WholeWords<2> WholeWords<2>::load(const std::uint8_t* from) {
  return std::bit_cast<WholeWords<2>>(load_whole<std::uint64_t>(from));
}
template <>
inline void WholeWords<2>::store(std::uint8_t* to) const {
  store_whole(to, std::bit_cast<std::uint64_t>(*this));
}
template <>
inline WholeWords<4> WholeWords<4>::load(const std::uint8_t* from) {
  return std::bit_cast<WholeWords<4>>(load_whole<FourWords>(from));
}
template <>
inline void WholeWords<4>::store(std::uint8_t* to) const {
  store_whole(to, std::bit_cast<FourWords>(*this));
}

// N registers.
template <int N>
struct Words {
  static constexpr unsigned kBytes = 4 * N;
  static constexpr int kWords = N;
  static void load(const std::uint8_t* from, Row* to, int lane) {
    const auto words = WholeWords<N>::load(from);
    for (int i = 0; i < N; ++i) to[i].lane[lane] = words.word[i];
  }
  static void store(std::uint8_t* to, const Row* from, int lane) {
    WholeWords<N> words;
    for (int i = 0; i < N; ++i) words.word[i] = from[i].lane[lane];
    words.store(to);
  }
  static void zero(Row* to, int lane) {
    for (int i = 0; i < N; ++i) to[i].lane[lane] = 0;
  }
};

enum class Half : std::uint8_t { kWhole, kLow, kHigh, kLowOnly, kHighOnly };

// A byte or short of type T, extended; else 16 bits into one half (d16). With kLow and kHigh the other one
// becomes 0, as registers with ECC (sramecc+, which gfx90a, gfx940 and gfx942 always have) are written whole:
// Tensile's kernels count on it. With kLowOnly and kHighOnly it stays, as on gfx1100.
template <class T, Half Where = Half::kWhole>
struct Small {
  static constexpr unsigned kBytes = sizeof(T);
  static constexpr int kWords = 1;
  static void put(T value, Row* to, int lane) {
    const auto bits = static_cast<std::uint32_t>(static_cast<std::int32_t>(value));
    const std::uint32_t old = to->lane[lane];
    switch (Where) {
      case Half::kWhole: to->lane[lane] = bits; break;
      case Half::kLow: to->lane[lane] = bits & 0xffff; break;
      case Half::kHigh: to->lane[lane] = bits << 16; break;
      case Half::kLowOnly: to->lane[lane] = (old & 0xffff0000) | (bits & 0xffff); break;
      case Half::kHighOnly: to->lane[lane] = (old & 0xffff) | bits << 16; break;
    }
  }
  static void load(const std::uint8_t* from, Row* to, int lane) {
    T value;
    std::memcpy(&value, from, sizeof value);
    put(value, to, lane);
  }
  static void store(std::uint8_t* to, const Row* from, int lane) {
    const T value = static_cast<T>(from->lane[lane] >> (Where == Half::kHigh ? 16 : 0));
    std::memcpy(to, &value, sizeof value);
  }
  static void zero(Row* to, int lane) { put(T{0}, to, lane); }
};

// Whether all lanes' words lie one behind the other.
inline bool in_a_row(const std::uint8_t* const (&at)[kLanes]) {
  std::uint64_t differs = 0;
  const auto first = reinterpret_cast<std::uint64_t>(at[0]);
  for (std::uint64_t i = 0; i < kLanes; ++i)
    differs |= reinterpret_cast<std::uint64_t>(at[i]) ^ (first + 4 * i);
  return differs == 0;
}

// Loads and stores of all lanes that take part, at places that were checked.
template <class Format>
void load_lanes(const Wave& w, const std::uint8_t* const (&at)[kLanes], Row* out) {
  std::uint64_t exec = w.exec();
  if (exec == ~std::uint64_t{0}) {
    if constexpr (std::is_same_v<Format, Words<1>>) {
      if (in_a_row(at)) {
        std::memcpy(out->lane, at[0], sizeof out->lane);
        return;
      }
    }
    for (int i = 0; i < kLanes; ++i) Format::load(at[i], out, i);
    return;
  }
  for (; exec != 0; exec &= exec - 1) {
    const int lane = std::countr_zero(exec);
    Format::load(at[lane], out, lane);
  }
}
template <class Format>
void store_lanes(const Wave& w, std::uint8_t* const (&at)[kLanes], const Row* data) {
  std::uint64_t exec = w.exec();
  if constexpr (std::is_same_v<Format, Words<1>>) {
    if (exec == ~std::uint64_t{0} && in_a_row(at)) {
      std::memcpy(at[0], data->lane, sizeof data->lane);
      return;
    }
  }
  for (; exec != 0; exec &= exec - 1) {
    const int lane = std::countr_zero(exec);
    Format::store(at[lane], data, lane);
  }
}

// Atomics of the host. Op::run gives the new value of the old one and of the data.
template <class T>
struct AddOp {
  static T run(T old, T data) { return static_cast<T>(old + data); }
};
template <class T>
struct SubOp {
  static T run(T old, T data) { return old - data; }
};
template <class T>
struct ReverseSubOp {
  static T run(T old, T data) { return data - old; }
};
template <class T>
struct MinOp {
  static T run(T old, T data) { return std::min(old, data); }
};
template <class T>
struct MaxOp {
  static T run(T old, T data) { return std::max(old, data); }
};
template <class T>
struct NumberMinOp {
  static T run(T old, T data) { return min_number(Mode{}, old, data); }
};
template <class T>
struct NumberMaxOp {
  static T run(T old, T data) { return max_number(Mode{}, old, data); }
};
template <class T>
struct AndOp {
  static T run(T old, T data) { return old & data; }
};
template <class T>
struct OrOp {
  static T run(T old, T data) { return old | data; }
};
template <class T>
struct XorOp {
  static T run(T old, T data) { return old ^ data; }
};
template <class T>
struct SwapOp {
  static T run(T /*old*/, T data) { return data; }
};
template <class T>
struct IncOp {
  static T run(T old, T data) { return old >= data ? 0 : old + 1; }
};
template <class T>
struct DecOp {
  static T run(T old, T data) { return old == 0 || old > data ? data : old - 1; }
};
struct PackedHalfAddOp {
  static std::uint32_t run(std::uint32_t old, std::uint32_t data) {
    const std::uint32_t low = float_to_half(half_to_float(old & 0xffff) + half_to_float(data & 0xffff));
    return low | float_to_half(half_to_float(old >> 16) + half_to_float(data >> 16)) << 16;
  }
};

// One atomic access: `data` from registers, `old` to registers.
template <class Op, class T>
struct Atomic {
  using Bits = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;
  static constexpr unsigned kBytes = sizeof(T);
  static constexpr int kWords = sizeof(T) / 4;
  static constexpr int kDataWords = kWords;
  static Bits data(const Row* from, int lane) {
    Bits bits = from[0].lane[lane];
    if constexpr (kWords == 2) bits |= static_cast<Bits>(from[1].lane[lane]) << 32;
    return bits;
  }
  static void put(Bits bits, Row* to, int lane) {
    to[0].lane[lane] = static_cast<std::uint32_t>(bits);
    if constexpr (kWords == 2) to[1].lane[lane] = static_cast<std::uint32_t>(bits >> 32);
  }
  static Bits run(std::uint8_t* at, const Row* from, const Row* /*second*/, int lane) {
    Bits* there = reinterpret_cast<Bits*>(at);
    const T value = std::bit_cast<T>(data(from, lane));
    Bits old = __atomic_load_n(there, __ATOMIC_SEQ_CST);
    while (true) {
      const Bits fresh = std::bit_cast<Bits>(Op::run(std::bit_cast<T>(old), value));
      if (__atomic_compare_exchange_n(there, &old, fresh, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
        return old;
    }
  }
};

// `second` holds what is compared, `from` what is written.
template <class T>
struct CompareSwap : Atomic<SwapOp<T>, T> {
  using Base = Atomic<SwapOp<T>, T>;
  static constexpr int kDataWords = 2 * Base::kWords;
  static T run(std::uint8_t* at, const Row* from, const Row* second, int lane) {
    T expected = Base::data(second, lane);
    __atomic_compare_exchange_n(reinterpret_cast<T*>(at), &expected, Base::data(from, lane), false,
                                __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
    return expected;
  }
};

}  // namespace tf::amd::isa
