// SPDX-License-Identifier: Apache-2.0
// LDS: loads and stores. Outside of the work-group's part, loads give 0 and stores do nothing, as
// CDNA2's document says of LDS.
#include "tests/amd/isa/formats.h"
#include "tests/amd/isa/lanes.h"

namespace tf::amd::isa {
namespace {

std::uint8_t* local_at(const Wave& w, std::uint32_t address, std::uint32_t bytes) {
  const std::uint32_t size = w.group->local_bytes;
  return address <= size && bytes <= size - address ? w.group->local.get() + address : nullptr;
}

// Addresses of all lanes. True: those that take part are inside.
bool local_addresses(const Wave& w, const Instruction& in, const Row& from, std::uint32_t bytes, Row& to) {
  const auto offset = static_cast<std::uint32_t>(in.mods.offset);
  std::uint32_t most = 0;
  for (int i = 0; i < kLanes; ++i) {
    to.lane[i] = from.lane[i] + offset;
    most = std::max(most, to.lane[i] & w.lanes.lane[i]);
  }
  return bytes <= w.group->local_bytes && most <= w.group->local_bytes - bytes;
}

// Places for lanes that take part; the others' are not looked at.
struct LocalPlaces {
  explicit LocalPlaces(const Wave& w, const Row& address) {
    std::uint8_t* local = w.group->local.get();
    for (int i = 0; i < kLanes; ++i) at[i] = local + address.lane[i];
  }
  std::uint8_t* at[kLanes];
};

// d, address
template <class Format>
void load(Wave& w, const Instruction& in) {
  Row address;
  const bool inside = local_addresses(w, in, w.v[in.op[1].index], Format::kBytes, address);
  Row* out = &w.v[in.op[0].index];
  if (inside) return load_lanes<Format>(w, LocalPlaces(w, address).at, out);
  for (int i = 0; i < kLanes; ++i) {
    if (w.lanes.lane[i] == 0) continue;
    if (const std::uint8_t* from = local_at(w, address.lane[i], Format::kBytes)) {
      Format::load(from, out, i);
    } else {
      Format::zero(out, i);
    }
  }
}

// address, data
template <class Format>
void store(Wave& w, const Instruction& in) {
  Row address;
  const bool inside = local_addresses(w, in, w.v[in.op[0].index], Format::kBytes, address);
  const Row* data = &w.v[in.op[1].index];
  if (inside) return store_lanes<Format>(w, LocalPlaces(w, address).at, data);
  for (int i = 0; i < kLanes; ++i) {
    if (w.lanes.lane[i] == 0) continue;
    if (std::uint8_t* to = local_at(w, address.lane[i], Format::kBytes)) Format::store(to, data, i);
  }
}

// d, address: two of N words, at offset0 and offset1 times their size, or times 64 of it.
template <int N, unsigned Stride>
void load2(Wave& w, const Instruction& in) {
  const Row address = w.v[in.op[1].index];
  Row* out = &w.v[in.op[0].index];
  const std::uint32_t offsets[2] = {in.mods.offset0 * 4U * N * Stride, in.mods.offset1 * 4U * N * Stride};
  for (int i = 0; i < kLanes; ++i) {
    if (w.lanes.lane[i] == 0) continue;
    for (int k = 0; k < 2; ++k) {
      if (const std::uint8_t* from = local_at(w, address.lane[i] + offsets[k], 4 * N)) {
        Words<N>::load(from, out + k * N, i);
      } else {
        Words<N>::zero(out + k * N, i);
      }
    }
  }
}

// address, data, data
template <int N, unsigned Stride>
void store2(Wave& w, const Instruction& in) {
  const Row& address = w.v[in.op[0].index];
  const std::uint32_t offsets[2] = {in.mods.offset0 * 4U * N * Stride, in.mods.offset1 * 4U * N * Stride};
  for (int i = 0; i < kLanes; ++i) {
    if (w.lanes.lane[i] == 0) continue;
    for (int k = 0; k < 2; ++k) {
      std::uint8_t* to = local_at(w, address.lane[i] + offsets[k], 4 * N);
      if (to != nullptr) Words<N>::store(to, &w.v[in.op[1 + k].index], i);
    }
  }
}

constexpr Type kA = Type::kAny;
template <class Format>
constexpr TableRow load_row(std::string_view name) {
  return {name, &load<Format>, kOffset, {kA, Type::kU32}};
}
template <class Format>
constexpr TableRow store_row(std::string_view name) {
  return {name, &store<Format>, kOffset, {Type::kU32, kA}};
}

constexpr TableRow kRows[] = {
    load_row<Words<1>>("ds_read_b32"),
    load_row<Words<2>>("ds_read_b64"),
    load_row<Words<3>>("ds_read_b96"),
    load_row<Words<4>>("ds_read_b128"),
    load_row<Small<std::uint8_t>>("ds_read_u8"),
    load_row<Small<std::int8_t>>("ds_read_i8"),
    load_row<Small<std::uint16_t>>("ds_read_u16"),
    load_row<Small<std::int16_t>>("ds_read_i16"),
    load_row<Small<std::uint8_t, Half::kLow>>("ds_read_u8_d16"),
    load_row<Small<std::uint8_t, Half::kHigh>>("ds_read_u8_d16_hi"),
    load_row<Small<std::int8_t, Half::kLow>>("ds_read_i8_d16"),
    load_row<Small<std::int8_t, Half::kHigh>>("ds_read_i8_d16_hi"),
    load_row<Small<std::uint16_t, Half::kLow>>("ds_read_u16_d16"),
    load_row<Small<std::uint16_t, Half::kHigh>>("ds_read_u16_d16_hi"),
    load_row<Small<std::uint8_t, Half::kLowOnly>>("ds_read_u8_d16 rdna"),
    load_row<Small<std::uint8_t, Half::kHighOnly>>("ds_read_u8_d16_hi rdna"),
    load_row<Small<std::int8_t, Half::kLowOnly>>("ds_read_i8_d16 rdna"),
    load_row<Small<std::int8_t, Half::kHighOnly>>("ds_read_i8_d16_hi rdna"),
    load_row<Small<std::uint16_t, Half::kLowOnly>>("ds_read_u16_d16 rdna"),
    load_row<Small<std::uint16_t, Half::kHighOnly>>("ds_read_u16_d16_hi rdna"),
    store_row<Words<1>>("ds_write_b32"),
    store_row<Words<2>>("ds_write_b64"),
    store_row<Words<3>>("ds_write_b96"),
    store_row<Words<4>>("ds_write_b128"),
    store_row<Small<std::uint8_t>>("ds_write_b8"),
    store_row<Small<std::uint16_t>>("ds_write_b16"),
    store_row<Small<std::uint8_t, Half::kHigh>>("ds_write_b8_d16_hi"),
    store_row<Small<std::uint16_t, Half::kHigh>>("ds_write_b16_d16_hi"),
    {"ds_read2_b32", &load2<1, 1>, kOffset01, {kA, Type::kU32}},
    {"ds_read2_b64", &load2<2, 1>, kOffset01, {kA, Type::kU32}},
    {"ds_read2st64_b32", &load2<1, 64>, kOffset01, {kA, Type::kU32}},
    {"ds_read2st64_b64", &load2<2, 64>, kOffset01, {kA, Type::kU32}},
    {"ds_write2_b32", &store2<1, 1>, kOffset01, {Type::kU32, kA, kA}},
    {"ds_write2_b64", &store2<2, 1>, kOffset01, {Type::kU32, kA, kA}},
    {"ds_write2st64_b32", &store2<1, 64>, kOffset01, {Type::kU32, kA, kA}},
    {"ds_write2st64_b64", &store2<2, 64>, kOffset01, {Type::kU32, kA, kA}},
};

}  // namespace

std::span<const TableRow> local_rows() { return kRows; }

}  // namespace tf::amd::isa
