// SPDX-License-Identifier: Apache-2.0
// Buffers of elements whose format the descriptor says (MUBUF, "format") [CDNA2 chapter 8.1]. Outside of a
// buffer, loads give what an element has that is 0 in all channels, and stores do nothing.
#include "tests/amd/isa/buffer.h"
#include "tests/amd/isa/components.h"

namespace tf::amd::isa {
namespace {

struct Texels {
  TexelFormat format;
  Selects select{};
};

Texels texels_of(const Wave& w, const Instruction& in) {
  Texels texels;
  if (!decode_texels(*w.processor, w.s[in.op[2].index + 3], texels.format, texels.select)) {
    unsupported(in, "a buffer whose format is not known");
  }
  return texels;
}

template <int N, bool Halves>
void load(Wave& w, const Instruction& in) {
  apply_plain_control(w);
  const Buffer buffer = buffer_of(w, in, in.op[2]);
  const auto soffset = static_cast<std::uint32_t>(scalar(w, in, in.op[3]));
  const Texels texels = texels_of(w, in);
  check_components(in, texels.format, N, Halves);
  Row result[N];
  for (int i = 0; i < kLanes; ++i) {
    if (w.lanes.lane[i] == 0) continue;
    const std::uint8_t* from = place(w, in, buffer, soffset, i, 0, texels.format.bytes(), false);
    const Texel texel = selected(texels.format, texels.select,
                                 from == nullptr ? Texel{} : read_channels(texels.format, from));
    for (int k = 0; k < N; ++k) {
      put_component(texels.format, Halves, result, k, i, texel[static_cast<std::size_t>(k)]);
    }
  }
  Row* out = &w.v[in.op[0].index];
  for (int k = 0; k < in.op[0].count; ++k) {
    for (int i = 0; i < kLanes; ++i) {
      if (w.lanes.lane[i] != 0) out[k].lane[i] = result[k].lane[i];
    }
  }
}

template <int N, bool Halves>
void store(Wave& w, const Instruction& in) {
  apply_plain_control(w);
  const Buffer buffer = buffer_of(w, in, in.op[2]);
  const auto soffset = static_cast<std::uint32_t>(scalar(w, in, in.op[3]));
  const Texels texels = texels_of(w, in);
  check_components(in, texels.format, N, Halves);
  if (texels.select != usual_selects(texels.format.channels)) unsupported(in, "channels in another order");
  const Row* data = &w.v[in.op[0].index];
  for (int i = 0; i < kLanes; ++i) {
    if (w.lanes.lane[i] == 0) continue;
    std::uint8_t* to = place(w, in, buffer, soffset, i, 0, texels.format.bytes(), true);
    if (to == nullptr) continue;
    Texel texel{};
    for (int k = 0; k < N; ++k) {
      texel[static_cast<std::size_t>(k)] = get_component(texels.format, Halves, data, k, i);
    }
    write_channels(texels.format, texel, to);
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
