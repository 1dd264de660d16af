// SPDX-License-Identifier: Apache-2.0
// Images (MIMG) [CDNA2 chapter 8.2, RDNA3 chapter 10]: loads, stores, samples. Images have one level, so that
// the level that a sample asks for, its bias and its gradients choose nothing.
//
// Which of the addresses is which coordinate: on gfx90a the descriptor's type says it, as the instruction
// does not; on gfx1100 the instruction says it ("dim"), and the descriptor's type which of them count. AMD's
// runtime copies images of all types with code for arrays of planes.
#include <algorithm>

#include "tests/amd/isa/components.h"
#include "tests/amd/isa/sampling.h"

namespace tf::amd::isa {
namespace {

// Which address a coordinate is; -1: none.
struct Order {
  int x = 0;
  int y = -1;
  int z = -1;
  int count = 1;
};

Order order_of(Dimensions dimensions) {
  switch (dimensions) {
    case Dimensions::k2D: return {0, 1, -1, 2};
    case Dimensions::k1DArray: return {0, -1, 1, 2};
    case Dimensions::k3D:
    case Dimensions::k2DArray: return {0, 1, 2, 3};
    default: return {};
  }
}

Dimensions dimensions_of(ImageType type) {
  switch (type) {
    case ImageType::k1D: return Dimensions::k1D;
    case ImageType::k2D: return Dimensions::k2D;
    case ImageType::k3D: return Dimensions::k3D;
    case ImageType::k1DArray: return Dimensions::k1DArray;
    case ImageType::k2DArray: break;
  }
  return Dimensions::k2DArray;
}

struct Access {
  ImageDescriptor image;
  Order order;
  bool halves = false;
  std::uint8_t dmask = 0;
};

// data, addresses, image[, sampler]. `others`: addresses besides the coordinates.
Access access_of(const Wave& w, const Instruction& in, int others) {
  Access access;
  std::string why;
  if (in.op[2].count != kImageWords || in.op[2].kind != Operand::Kind::kScalar) unsupported(in, "descriptor");
  const auto image = decode_image(*w.processor, &w.s[in.op[2].index], why);
  if (!image) unsupported(in, why);
  access.image = *image;
  access.halves = in.mods.halves;
  access.dmask = in.mods.dmask;
  const Dimensions needed = dimensions_of(image->type);
  if (w.processor->images == ImageLayout::kGfx11) {
    if (in.mods.dimensions == Dimensions::kCube) unsupported(in, "a cubemap");
    access.order = order_of(in.mods.dimensions);
    const Order least = order_of(needed);
    if ((least.y >= 0 && access.order.y < 0) || (least.z >= 0 && access.order.z < 0)) {
      unsupported(in, "fewer coordinates than the image has");
    }
    if (in.op[1].count < others + access.order.count) unsupported(in, "fewer addresses than it needs");
  } else {
    access.order = order_of(needed);
    if (image->is_array() && !in.mods.array) unsupported(in, "an image of layers without \"da\"");
  }
  return access;
}

// The register of address `at`.
int address(const Operand& o, int at) {
  if (!o.listed) return o.index + at;
  constexpr int kLast = 4;
  if (at <= kLast) return static_cast<int>(o.value >> (8 * at) & 0xff);
  return static_cast<int>(o.value >> (8 * kLast) & 0xff) + at - kLast;
}

// A coordinate that the image has; `before`: addresses in front of the coordinates.
std::uint32_t coordinate(const Wave& w, const Instruction& in, int at, int before, int lane) {
  return at < 0 ? 0 : w.v[address(in.op[1], before + at)].lane[lane];
}

Coordinates<std::int64_t> whole_coordinates(const Wave& w, const Instruction& in, const Access& access,
                                            int lane) {
  const auto one = [&](int at) {
    return static_cast<std::int64_t>(static_cast<std::int32_t>(coordinate(w, in, at, 0, lane)));
  };
  const ImageType type = access.image.type;
  const bool flat = type == ImageType::k1D || type == ImageType::k1DArray;
  const bool deep = type == ImageType::k3D || access.image.is_array();
  return {one(access.order.x), flat ? 0 : one(access.order.y), deep ? one(access.order.z) : 0};
}

// Of load_mip and store_mip: whether the level is one that there is.
bool on_first_level(const Wave& w, const Instruction& in, const Access& access, int lane) {
  return coordinate(w, in, access.order.count, 0, lane) == 0;
}

int components(std::uint8_t dmask) { return std::popcount(static_cast<unsigned>(dmask)); }

void check_mask(const Instruction& in, std::uint8_t dmask) {
  if (dmask == 0 || dmask > 15) unsupported(in, "dmask");
}

// Results of `count` components, of the lanes that take part.
class Results {
 public:
  Results(const Instruction& in, const Access& access, int count) : access_(access) {
    check_components(in, access.image.format, count, access.halves);
  }
  void put(int at, int lane, std::uint32_t value) {
    put_component(access_.image.format, access_.halves, rows_, at, lane, value);
  }
  // Those that dmask asks for, one behind the other.
  void put_masked(int lane, const Texel& texel) {
    int at = 0;
    for (std::size_t k = 0; k < 4; ++k) {
      if ((access_.dmask >> k & 1) != 0) put(at++, lane, texel[k]);
    }
  }
  void write(Wave& w, const Instruction& in) const { write_components(w, in, rows_); }

 private:
  const Access& access_;
  Row rows_[4];
};

template <bool Level>
void load(Wave& w, const Instruction& in) {
  apply_plain_control(w);
  const Access access = access_of(w, in, Level ? 1 : 0);
  check_mask(in, access.dmask);
  Results results(in, access, components(access.dmask));
  for (int i = 0; i < kLanes; ++i) {
    if (w.lanes.lane[i] == 0) continue;
    auto at = whole_coordinates(w, in, access, i);
    if (Level && !on_first_level(w, in, access, i)) at.x = -1;
    results.put_masked(i, element(*w.memory, access.image, at.x, at.y, at.z));
  }
  results.write(w, in);
}

// Components that dmask leaves out are written as 0.
template <bool Level>
void store(Wave& w, const Instruction& in) {
  apply_plain_control(w);
  const Access access = access_of(w, in, Level ? 1 : 0);
  const TexelFormat& format = access.image.format;
  check_mask(in, access.dmask);
  check_components(in, format, components(access.dmask), access.halves);
  if (access.image.select != usual_selects(format.channels)) unsupported(in, "channels in another order");
  if (format.number == Number::kSrgb) unsupported(in, "a store of sRGB");
  const Row* data = &w.v[in.op[0].index];
  for (int i = 0; i < kLanes; ++i) {
    if (w.lanes.lane[i] == 0 || (Level && !on_first_level(w, in, access, i))) continue;
    const auto at = whole_coordinates(w, in, access, i);
    std::uint8_t* to = element_at(*w.memory, access.image, at.x, at.y, at.z, true);
    if (to == nullptr) continue;
    Texel texel{};
    int from = 0;
    for (std::size_t k = 0; k < 4; ++k) {
      if ((access.dmask >> k & 1) != 0) texel[k] = get_component(format, access.halves, data, from++, i);
    }
    write_channels(format, texel, to);
  }
}

SamplerDescriptor sampler_of(const Wave& w, const Instruction& in, const Access& access) {
  std::string why;
  const Operand& o = in.op[3];
  if (o.count != kSamplerWords || o.kind != Operand::Kind::kScalar) unsupported(in, "sampler");
  auto sampler = decode_sampler(&w.s[o.index], why);
  if (!sampler) unsupported(in, why);
  if (in.mods.unnormalized) sampler->normalized = false;
  const bool repeats = std::any_of(sampler->modes.begin(), sampler->modes.end(), [](AddressMode mode) {
    return mode == AddressMode::kWrap || mode == AddressMode::kMirror;
  });
  if (repeats && !sampler->normalized) unsupported(in, "coordinates that repeat and are not normalized");
  if (sampler->linear && access.image.format.is_integer()) unsupported(in, "a linear filter of integers");
  const bool deep = access.image.type == ImageType::k3D;
  if (sampler->linear && deep && !w.processor->filters_depth)
    unsupported(in, "a linear filter in three axes");
  return *sampler;
}

Coordinates<float> coordinates(const Wave& w, const Instruction& in, const Access& access, int before,
                               int lane) {
  const auto one = [&](int at) { return std::bit_cast<float>(coordinate(w, in, at, before, lane)); };
  return {one(access.order.x), one(access.order.y), one(access.order.z)};
}

// What stands in front of the coordinates, and is ignored.
enum class Before : std::uint8_t { kNothing, kBias, kGradients };

int count_before(Before before, const Instruction& in) {
  if (before == Before::kNothing) return 0;
  if (before == Before::kBias) return 1;
  switch (in.mods.dimensions) {
    case Dimensions::k1D:
    case Dimensions::k1DArray: return 2;
    case Dimensions::k2D:
    case Dimensions::k2DArray: return 4;
    case Dimensions::k3D: return 6;
    default: unsupported(in, "gradients");
  }
}

template <Before In>
void sampled(Wave& w, const Instruction& in) {
  apply_plain_control(w);
  const int before = count_before(In, in);
  const Access access = access_of(w, in, before);
  check_mask(in, access.dmask);
  const SamplerDescriptor sampler = sampler_of(w, in, access);
  Results results(in, access, components(access.dmask));
  for (int i = 0; i < kLanes; ++i) {
    if (w.lanes.lane[i] == 0) continue;
    results.put_masked(i, sample(*w.memory, access.image, sampler, coordinates(w, in, access, before, i)));
  }
  results.write(w, in);
}

// dmask names the one component that is read of four elements, which lie in a plane.
void gathered(Wave& w, const Instruction& in) {
  apply_plain_control(w);
  const Access access = access_of(w, in, 0);
  if (components(access.dmask) != 1 || access.dmask > 8) unsupported(in, "dmask");
  if (access.image.type != ImageType::k2D && access.image.type != ImageType::k2DArray)
    unsupported(in, "gathering from this image");
  const SamplerDescriptor sampler = sampler_of(w, in, access);
  const auto component = static_cast<unsigned>(std::countr_zero(access.dmask));
  Results results(in, access, 4);
  for (int i = 0; i < kLanes; ++i) {
    if (w.lanes.lane[i] == 0) continue;
    const Texel four = gather(*w.memory, access.image, sampler, coordinates(w, in, access, 0, i), component);
    for (int k = 0; k < 4; ++k) results.put(k, i, four[static_cast<std::size_t>(k)]);
  }
  results.write(w, in);
}

constexpr Type kA = Type::kAny;
constexpr std::uint32_t kMods = kImage | kCache;
constexpr TableRow kRows[] = {
    {"image_load", &load<false>, kMods, {kA, kA, kA}},
    {"image_load_mip", &load<true>, kMods, {kA, kA, kA}},
    {"image_store", &store<false>, kMods, {kA, kA, kA}},
    {"image_store_mip", &store<true>, kMods, {kA, kA, kA}},
    {"image_sample", &sampled<Before::kNothing>, kMods, {kA, kA, kA, kA}},
    {"image_sample_lz", &sampled<Before::kNothing>, kMods, {kA, kA, kA, kA}},
    {"image_sample_l", &sampled<Before::kNothing>, kMods, {kA, kA, kA, kA}},
    {"image_sample_b", &sampled<Before::kBias>, kMods, {kA, kA, kA, kA}},
    {"image_sample_d", &sampled<Before::kGradients>, kMods, {kA, kA, kA, kA}},
    {"image_gather4", &gathered, kMods, {kA, kA, kA, kA}},
    {"image_gather4_l", &gathered, kMods, {kA, kA, kA, kA}},
    {"image_gather4_lz", &gathered, kMods, {kA, kA, kA, kA}},
};

}  // namespace

std::span<const TableRow> image_rows() { return kRows; }

}  // namespace tf::amd::isa
