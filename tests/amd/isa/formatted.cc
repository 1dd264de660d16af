// SPDX-License-Identifier: Apache-2.0
// Buffers of elements whose format the descriptor says (MUBUF, "format") [CDNA2 chapter 8.1]. Outside of a
// buffer, loads give what an element has that is 0 in all channels, and stores do nothing.
#include "tests/amd/isa/buffer.h"
#include "tests/amd/isa/components.h"

namespace tf::amd::isa {
namespace {

struct Access {
  Buffer buffer;
  std::uint32_t soffset = 0;
  TexelFormat format;
  Selects select{};
};

// data, address, buffer, offset; of elements with `count` components.
Access access_of(Wave& w, const Instruction& in, int count, bool halves) {
  apply_plain_control(w);
  Access access{buffer_of(w, in, in.op[2]), static_cast<std::uint32_t>(scalar(w, in, in.op[3])), {}, {}};
  if (!decode_texels(*w.processor, w.s[in.op[2].index + 3], access.format, access.select))
    unsupported(in, "a buffer whose format is not known");
  check_components(in, access.format, count, halves);
  return access;
}

template <int N, bool Halves>
void load(Wave& w, const Instruction& in) {
  const Access access = access_of(w, in, N, Halves);
  const TexelFormat& format = access.format;
  Row result[N];
  for (int i = 0; i < kLanes; ++i) {
    if (w.lanes.lane[i] == 0) continue;
    const std::uint8_t* from = place(w, in, access.buffer, access.soffset, i, 0, format.bytes(), false);
    const Texel texel =
        selected(format, access.select, from == nullptr ? Texel{} : read_channels(format, from));
    for (int k = 0; k < N; ++k)
      put_component(format, Halves, result, k, i, texel[static_cast<std::size_t>(k)]);
  }
  write_components(w, in, result);
}

template <int N, bool Halves>
void store(Wave& w, const Instruction& in) {
  const Access access = access_of(w, in, N, Halves);
  const TexelFormat& format = access.format;
  if (access.select != usual_selects(format.channels)) unsupported(in, "channels in another order");
  const Row* data = &w.v[in.op[0].index];
  for (int i = 0; i < kLanes; ++i) {
    if (w.lanes.lane[i] == 0) continue;
    std::uint8_t* to = place(w, in, access.buffer, access.soffset, i, 0, format.bytes(), true);
    if (to == nullptr) continue;
    Texel texel{};
    for (int k = 0; k < N; ++k)
      texel[static_cast<std::size_t>(k)] = get_component(format, Halves, data, k, i);
    write_channels(format, texel, to);
  }
}

constexpr Type kA = Type::kAny;
constexpr std::uint32_t kMods = kOffset | kCache | kBufferMode;
#define TF_FORMATTED(name, ...)                             \
  {                                                         \
    "buffer_" name, &__VA_ARGS__, kMods, { kA, kA, kA, kA } \
  }
constexpr TableRow kRows[] = {TF_FORMATTED("load_format_x", load<1, false>),
                              TF_FORMATTED("load_format_xy", load<2, false>),
                              TF_FORMATTED("load_format_xyz", load<3, false>),
                              TF_FORMATTED("load_format_xyzw", load<4, false>),
                              TF_FORMATTED("load_format_d16_xy", load<2, true>),
                              TF_FORMATTED("load_format_d16_xyzw", load<4, true>),
                              TF_FORMATTED("store_format_x", store<1, false>),
                              TF_FORMATTED("store_format_xy", store<2, false>),
                              TF_FORMATTED("store_format_xyz", store<3, false>),
                              TF_FORMATTED("store_format_xyzw", store<4, false>),
                              TF_FORMATTED("store_format_d16_xy", store<2, true>),
                              TF_FORMATTED("store_format_d16_xyzw", store<4, true>)};

}  // namespace

std::span<const TableRow> formatted_rows() { return kRows; }

}  // namespace tf::amd::isa
