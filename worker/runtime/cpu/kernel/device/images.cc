// SPDX-License-Identifier: Apache-2.0
// Textures and surfaces: the image functions of AMD's device libraries for the host's cores.
//
// As the manuals of HIP and CUDA define sampling, with two differences from GPUs. Weights of linear filters
// have the precision of float, where hardware has 8 bits. Linear filters of cubemaps take a face's own
// elements at its edges, where hardware takes those of the next face. Coordinates of loads and stores that
// are outside read zero and write nothing. Channels that an element lacks read 0, and 1 in place of the
// fourth.
#include "images.h"

#define API extern "C" __attribute__((visibility("hidden")))

namespace {

typedef float float2 __attribute__((ext_vector_type(2)));
typedef float float4 __attribute__((ext_vector_type(4)));
typedef int int2 __attribute__((ext_vector_type(2)));
typedef int int4 __attribute__((ext_vector_type(4)));
typedef const HiprImage* Image;

// hipArray_Format
enum Format : uint32_t {
  kUint8 = 0x01,
  kUint16 = 0x02,
  kUint32 = 0x03,
  kInt8 = 0x08,
  kInt16 = 0x09,
  kInt32 = 0x0a,
  kHalf = 0x10,
  kFloat = 0x20
};
enum Mode : uint32_t { kWrap = 0, kClamp = 1, kMirror = 2, kBorder = 3 };

constexpr float kFarthest = 1 << 30;  // coordinates beyond are as good as there
constexpr int kOutside = -1;
constexpr uint32_t kFaces = 6;

inline float as_float(uint32_t bits) {
  float value;
  __builtin_memcpy(&value, &bits, sizeof value);
  return value;
}
inline uint32_t as_bits(float value) {
  uint32_t bits;
  __builtin_memcpy(&bits, &value, sizeof bits);
  return bits;
}
template <typename Value>
inline Value read(const unsigned char* from) {
  Value value;
  __builtin_memcpy(&value, from, sizeof value);
  return value;
}
inline uint32_t channel_bytes(uint32_t format) {
  switch (format) {
    case kUint8:
    case kInt8: return 1;
    case kUint16:
    case kInt16:
    case kHalf: return 2;
    default: return 4;
  }
}
inline bool is_float(uint32_t format) { return format == kHalf || format == kFloat; }

float half_to_float(uint16_t half) {
  const uint32_t sign = static_cast<uint32_t>(half & 0x8000) << 16;
  uint32_t exponent = (half >> 10) & 31, fraction = half & 1023;
  if (exponent == 31) return as_float(sign | 0x7f800000u | fraction << 13);
  if (exponent != 0) return as_float(sign | (exponent + 112) << 23 | fraction << 13);
  const float small = static_cast<float>(fraction) * 0x1p-24f;
  return sign != 0 ? -small : small;
}

// To nearest even.
uint16_t float_to_half(float value) {
  const uint32_t bits = as_bits(value);
  const uint16_t sign = static_cast<uint16_t>((bits >> 16) & 0x8000);
  const uint32_t magnitude = bits & 0x7fffffff;
  if (magnitude > 0x7f800000) return sign | 0x7e00;
  if (magnitude >= 0x477ff000) return sign | 0x7c00;
  if (magnitude < 0x38800000) {  // subnormal: the sum's lowest bit is the half's
    const float shifted = as_float(magnitude) + 0.5f;
    return static_cast<uint16_t>(sign | (as_bits(shifted) - as_bits(0.5f)));
  }
  const uint32_t even = (magnitude >> 13) & 1;
  return static_cast<uint16_t>(sign | ((magnitude - 0x38000000 + 0xfff + even) >> 13));
}

float linear_of_srgb(float value) {
  if (value <= 0.04045f) return value / 12.92f;
  return __builtin_powf((value + 0.055f) / 1.055f, 2.4f);
}

// One channel of an element as kernels see it: a float, or the bits of an integer.
inline float channel(Image image, const unsigned char* from, uint32_t index) {
  const bool normalized = image->normalized_read != 0;
  switch (image->format) {
    case kUint8: {
      if (!normalized) return as_float(*from);
      const float value = static_cast<float>(*from) / 255.0f;
      return image->srgb != 0 && index < 3 ? linear_of_srgb(value) : value;
    }
    case kInt8: {
      const int value = static_cast<signed char>(*from);
      if (!normalized) return as_float(static_cast<uint32_t>(value));
      return value < -127 ? -1.0f : static_cast<float>(value) / 127.0f;
    }
    case kUint16: {
      const uint16_t value = read<uint16_t>(from);
      return normalized ? static_cast<float>(value) / 65535.0f : as_float(value);
    }
    case kInt16: {
      const int value = read<int16_t>(from);
      if (!normalized) return as_float(static_cast<uint32_t>(value));
      return value < -32767 ? -1.0f : static_cast<float>(value) / 32767.0f;
    }
    case kHalf: return half_to_float(read<uint16_t>(from));
    default: return read<float>(from);  // bits of any kind
  }
}

// Whether what a kernel reads are floats, which alone can be filtered.
inline bool reads_float(Image image) {
  return is_float(image->format) || (image->normalized_read != 0 && channel_bytes(image->format) < 4);
}

float4 nothing(Image image) {
  const float one = reads_float(image) ? 1.0f : as_float(1);
  float4 value = {0.0f, 0.0f, 0.0f, 0.0f};
  if (image->channels < 4) value.w = one;
  return value;
}

unsigned char* element(Image image, const HiprImageLevel& level, int x, int y, int z) {
  const uint32_t bytes = channel_bytes(image->format) * image->channels;
  return level.base + static_cast<uint64_t>(z) * level.slice + static_cast<uint64_t>(y) * level.pitch +
         static_cast<uint64_t>(x) * bytes;
}

float4 fetch(Image image, const HiprImageLevel& level, int x, int y, int z) {
  const unsigned char* const from = element(image, level, x, y, z);
  const uint32_t bytes = channel_bytes(image->format);
  float4 value = {0.0f, 0.0f, 0.0f, reads_float(image) ? 1.0f : as_float(1)};
  for (uint32_t index = 0; index < image->channels; ++index)
    value[index] = channel(image, from + index * bytes, index);
  return value;
}

// The slice of a face of a cubemap with layers; kOutside: there is no such face or layer.
inline int slice_of(Image image, int layer, int face) {
  const bool known =
      static_cast<uint32_t>(face) < kFaces && static_cast<uint32_t>(layer) < image->level[0].depth / kFaces;
  return known ? layer * static_cast<int>(kFaces) + face : kOutside;
}

inline bool inside(const HiprImageLevel& level, int x, int y, int z) {
  return static_cast<uint32_t>(x) < level.width && static_cast<uint32_t>(y) < level.height &&
         static_cast<uint32_t>(z) < level.depth;
}

// ---- loads and stores ---------------------------------------------------------------------------------

float4 load(Image image, int at_level, int x, int y, int z) {
  if (static_cast<uint32_t>(at_level) >= image->levels) return nothing(image);
  const HiprImageLevel& level = image->level[at_level];
  return inside(level, x, y, z) ? fetch(image, level, x, y, z) : nothing(image);
}

void store(Image image, int at_level, int x, int y, int z, float4 value) {
  if (static_cast<uint32_t>(at_level) >= image->levels) return;
  const HiprImageLevel& level = image->level[at_level];
  if (!inside(level, x, y, z)) return;
  unsigned char* to = element(image, level, x, y, z);
  const uint32_t bytes = channel_bytes(image->format);
  for (uint32_t index = 0; index < image->channels; ++index, to += bytes) {
    const uint32_t bits = image->format == kHalf ? float_to_half(value[index]) : as_bits(value[index]);
    __builtin_memcpy(to, &bits, bytes);
  }
}

// ---- sampling -----------------------------------------------------------------------------------------

// The element that an index stands for, or kOutside for the border.
inline int resolve(int index, int size, uint32_t mode) {
  if (static_cast<uint32_t>(index) < static_cast<uint32_t>(size)) return index;
  switch (mode) {
    case kWrap: {
      const int rest = index % size;
      return rest < 0 ? rest + size : rest;
    }
    case kMirror: {
      int rest = index % (2 * size);
      if (rest < 0) rest += 2 * size;
      return rest < size ? rest : 2 * size - 1 - rest;
    }
    case kBorder: return kOutside;
    default: return index < 0 ? 0 : size - 1;
  }
}

// One axis of a sample: up to two elements, and the weight of the second.
struct Axis {
  int first;
  int second;
  float weight;
};

// How coordinates along one axis are read.
struct Rule {
  uint32_t mode;
  bool normalized;
};

// Without normalized coordinates nothing repeats. Cubemaps have coordinates from 0 to 1, whatever the texture
// says, and faces that end at their edges.
inline Rule rule_of(Image image, int axis, bool cube) {
  if (cube) return {kClamp, true};
  const bool normalized = image->normalized_coordinates != 0;
  const uint32_t mode = image->address_mode[axis];
  return {!normalized && (mode == kWrap || mode == kMirror) ? kClamp : mode, normalized};
}

Axis axis_of(Rule rule, float coordinate, uint32_t size, bool linear) {
  const int edge = static_cast<int>(size);
  float at = rule.normalized ? coordinate * static_cast<float>(size) : coordinate;
  if (!(at > -kFarthest)) at = at < 0 ? -kFarthest : 0.0f;  // a NaN is as zero
  if (at > kFarthest) at = kFarthest;
  if (!linear) {
    const int index = resolve(static_cast<int>(__builtin_floorf(at)), edge, rule.mode);
    return {index, index, 0.0f};
  }
  const float low = __builtin_floorf(at - 0.5f);
  const int index = static_cast<int>(low);
  return {resolve(index, edge, rule.mode), resolve(index + 1, edge, rule.mode), at - 0.5f - low};
}

float4 border_of(Image image) {
  float4 value = nothing(image);
  for (uint32_t index = 0; index < image->channels; ++index)
    value[index] = reads_float(image)
                       ? image->border[index]
                       : as_float(static_cast<uint32_t>(static_cast<int>(image->border[index])));
  return value;
}

float4 pick(Image image, const HiprImageLevel& level, int x, int y, int z) {
  if (x == kOutside || y == kOutside || z == kOutside) return border_of(image);
  return fetch(image, level, x, y, z);
}

inline float4 mix(float4 first, float4 second, float weight) {
  return weight == 0.0f ? first : first + (second - first) * weight;
}

float4 row(Image image, const HiprImageLevel& level, const Axis& x, int y, int z) {
  const float4 first = pick(image, level, x.first, y, z);
  return x.weight == 0.0f ? first : mix(first, pick(image, level, x.second, y, z), x.weight);
}

float4 plane(Image image, const HiprImageLevel& level, const Axis& x, const Axis& y, int z) {
  const float4 first = row(image, level, x, y.first, z);
  return y.weight == 0.0f ? first : mix(first, row(image, level, x, y.second, z), y.weight);
}

// What is sampled: coordinates along the filtered axes, then a layer or face where there are some.
struct Sample {
  int axes;
  float at[3];
  int layer;
  bool cube = false;
};

float4 sample_level(Image image, const Sample& sample, uint32_t index) {
  const HiprImageLevel& level = image->level[index];
  const bool linear = image->linear != 0 && reads_float(image);
  const int last = static_cast<int>(level.depth) - 1;
  const int layer = sample.layer < 0 ? 0 : sample.layer > last ? last : sample.layer;
  const Axis x = axis_of(rule_of(image, 0, sample.cube), sample.at[0], level.width, linear);
  if (sample.axes == 1) return row(image, level, x, 0, layer);
  const Axis y = axis_of(rule_of(image, 1, sample.cube), sample.at[1], level.height, linear);
  if (sample.axes == 2) return plane(image, level, x, y, layer);
  const Axis z = axis_of(rule_of(image, 2, false), sample.at[2], level.depth, linear);
  const float4 first = plane(image, level, x, y, z.first);
  return z.weight == 0.0f ? first : mix(first, plane(image, level, x, y, z.second), z.weight);
}

float4 sample_lod(Image image, const Sample& sample, float lod) {
  float at = lod;
  if (!(at >= image->level_min)) at = image->level_min;
  if (at > image->level_max) at = image->level_max;
  const float top = static_cast<float>(image->levels - 1);
  if (!(at > 0.0f)) return sample_level(image, sample, 0);
  if (at > top) at = top;
  if (image->mipmap_linear == 0 || !reads_float(image))
    return sample_level(image, sample, static_cast<uint32_t>(at + 0.5f));
  const uint32_t low = static_cast<uint32_t>(at);
  const float weight = at - static_cast<float>(low);
  const float4 first = sample_level(image, sample, low);
  return weight == 0.0f ? first : mix(first, sample_level(image, sample, low + 1), weight);
}

float4 sample(Image image, const Sample& sample) { return sample_lod(image, sample, 0.0f); }

// The level at which neighbours that are so far apart are about one element apart.
float lod_of(Image image, int axes, const float* dx, const float* dy) {
  const HiprImageLevel& level = image->level[0];
  const uint32_t sizes[3] = {level.width, level.height, level.depth};
  float longest = 0.0f;
  const float* const steps[] = {dx, dy};
  for (const float* step : steps) {
    float square = 0.0f;
    for (int axis = 0; axis < axes; ++axis) {
      const float scale = image->normalized_coordinates != 0 ? static_cast<float>(sizes[axis]) : 1.0f;
      square += step[axis] * scale * step[axis] * scale;
    }
    if (square > longest) longest = square;
  }
  return longest > 0.0f ? 0.5f * __builtin_log2f(longest) : -kFarthest;
}

inline int layer_of(float coordinate) {
  if (!(coordinate > 0.0f)) return 0;
  return coordinate < kFarthest ? static_cast<int>(__builtin_rintf(coordinate)) : static_cast<int>(kFarthest);
}

// The face that a direction meets, and where, as for Direct3D and OpenGL. Layers that there are not are the
// ones next to them. REQUIRES: cube_layer >= 0
Sample cube(Image image, float x, float y, float z, int cube_layer) {
  const int layers = static_cast<int>(image->level[0].depth / kFaces);
  if (cube_layer >= layers) cube_layer = layers > 0 ? layers - 1 : 0;
  const float ax = __builtin_fabsf(x), ay = __builtin_fabsf(y), az = __builtin_fabsf(z);
  int face;
  float s, t, major;
  if (ax >= ay && ax >= az) {
    face = x < 0 ? 1 : 0;
    s = x < 0 ? z : -z;
    t = -y;
    major = ax;
  } else if (ay >= az) {
    face = y < 0 ? 3 : 2;
    s = x;
    t = y < 0 ? -z : z;
    major = ay;
  } else {
    face = z < 0 ? 5 : 4;
    s = z < 0 ? -x : x;
    t = -y;
    major = az;
  }
  if (major == 0.0f) major = 1.0f;
  return {2,
          {(s / major + 1.0f) * 0.5f, (t / major + 1.0f) * 0.5f, 0.0f},
          cube_layer * static_cast<int>(kFaces) + face,
          true};
}

// One channel of the four elements that a linear filter would take.
float4 gather(Image image, float2 c, uint32_t index) {
  const HiprImageLevel& level = image->level[0];
  const Axis x = axis_of(rule_of(image, 0, false), c.x, level.width, true);
  const Axis y = axis_of(rule_of(image, 1, false), c.y, level.height, true);
  return {pick(image, level, x.first, y.second, 0)[index], pick(image, level, x.second, y.second, 0)[index],
          pick(image, level, x.second, y.first, 0)[index], pick(image, level, x.first, y.first, 0)[index]};
}

// hsa_ext_image_channel_type_t and hsa_ext_image_channel_order_t of the HSA runtime specification.
int hsa_type(Image image) {
  switch (image->format) {
    case kInt8: return 8;
    case kInt16: return 9;
    case kInt32: return 10;
    case kUint8: return 11;
    case kUint16: return 12;
    case kUint32: return 13;
    case kHalf: return 14;
    default: return 15;
  }
}
int hsa_order(Image image) { return image->channels == 1 ? 1 : image->channels == 2 ? 3 : 8; }

}  // namespace

// ---- what kernels call: b a buffer, a an array of layers, CM a cubemap ---------------------------------

API float4 __ockl_image_load_1D(Image i, int c) { return load(i, 0, c, 0, 0); }
API float4 __ockl_image_load_1Db(Image i, int c) { return load(i, 0, c, 0, 0); }
API float4 __ockl_image_load_1Da(Image i, int2 c) { return load(i, 0, c.x, 0, c.y); }
API float4 __ockl_image_load_2D(Image i, int2 c) { return load(i, 0, c.x, c.y, 0); }
API float4 __ockl_image_load_2Da(Image i, int4 c) { return load(i, 0, c.x, c.y, c.z); }
API float4 __ockl_image_load_3D(Image i, int4 c) { return load(i, 0, c.x, c.y, c.z); }
API float4 __ockl_image_load_CM(Image i, int2 c, int f) { return load(i, 0, c.x, c.y, f); }
API float4 __ockl_image_load_CMa(Image i, int4 c, int f) { return load(i, 0, c.x, c.y, slice_of(i, c.z, f)); }

API float4 __ockl_image_load_lod_1D(Image i, int c, int l) { return load(i, l, c, 0, 0); }
API float4 __ockl_image_load_lod_1Da(Image i, int2 c, int l) { return load(i, l, c.x, 0, c.y); }
API float4 __ockl_image_load_lod_2D(Image i, int2 c, int l) { return load(i, l, c.x, c.y, 0); }
API float4 __ockl_image_load_lod_2Da(Image i, int4 c, int l) { return load(i, l, c.x, c.y, c.z); }
API float4 __ockl_image_load_lod_3D(Image i, int4 c, int l) { return load(i, l, c.x, c.y, c.z); }
API float4 __ockl_image_load_lod_CM(Image i, int2 c, int f, int l) { return load(i, l, c.x, c.y, f); }
API float4 __ockl_image_load_lod_CMa(Image i, int4 c, int f, int l) {
  return load(i, l, c.x, c.y, slice_of(i, c.z, f));
}

API void __ockl_image_store_1D(Image i, int c, float4 p) { store(i, 0, c, 0, 0, p); }
API void __ockl_image_store_1Da(Image i, int2 c, float4 p) { store(i, 0, c.x, 0, c.y, p); }
API void __ockl_image_store_2D(Image i, int2 c, float4 p) { store(i, 0, c.x, c.y, 0, p); }
API void __ockl_image_store_2Da(Image i, int4 c, float4 p) { store(i, 0, c.x, c.y, c.z, p); }
API void __ockl_image_store_3D(Image i, int4 c, float4 p) { store(i, 0, c.x, c.y, c.z, p); }
API void __ockl_image_store_CM(Image i, int2 c, int f, float4 p) { store(i, 0, c.x, c.y, f, p); }
API void __ockl_image_store_CMa(Image i, int4 c, int f, float4 p) {
  store(i, 0, c.x, c.y, slice_of(i, c.z, f), p);
}

API void __ockl_image_store_lod_1D(Image i, int c, int l, float4 p) { store(i, l, c, 0, 0, p); }
API void __ockl_image_store_lod_1Da(Image i, int2 c, int l, float4 p) { store(i, l, c.x, 0, c.y, p); }
API void __ockl_image_store_lod_2D(Image i, int2 c, int l, float4 p) { store(i, l, c.x, c.y, 0, p); }
API void __ockl_image_store_lod_2Da(Image i, int4 c, int l, float4 p) { store(i, l, c.x, c.y, c.z, p); }
API void __ockl_image_store_lod_3D(Image i, int4 c, int l, float4 p) { store(i, l, c.x, c.y, c.z, p); }
API void __ockl_image_store_lod_CM(Image i, int2 c, int f, int l, float4 p) { store(i, l, c.x, c.y, f, p); }
API void __ockl_image_store_lod_CMa(Image i, int4 c, int f, int l, float4 p) {
  store(i, l, c.x, c.y, slice_of(i, c.z, f), p);
}

// The sampler belongs to the texture object in HIP: `s` says nothing that `i` does not.
API float4 __ockl_image_sample_1D(Image i, Image, float c) { return sample(i, {1, {c}, 0}); }
API float4 __ockl_image_sample_1Da(Image i, Image, float2 c) { return sample(i, {1, {c.x}, layer_of(c.y)}); }
API float4 __ockl_image_sample_2D(Image i, Image, float2 c) { return sample(i, {2, {c.x, c.y}, 0}); }
API float4 __ockl_image_sample_2Da(Image i, Image, float4 c) {
  return sample(i, {2, {c.x, c.y}, layer_of(c.z)});
}
API float4 __ockl_image_sample_3D(Image i, Image, float4 c) { return sample(i, {3, {c.x, c.y, c.z}, 0}); }
API float4 __ockl_image_sample_CM(Image i, Image, float4 c) { return sample(i, cube(i, c.x, c.y, c.z, 0)); }
API float4 __ockl_image_sample_CMa(Image i, Image, float4 c) {
  return sample(i, cube(i, c.x, c.y, c.z, layer_of(c.w)));
}

API float4 __ockl_image_sample_lod_1D(Image i, Image, float c, float l) {
  return sample_lod(i, {1, {c}, 0}, l);
}
API float4 __ockl_image_sample_lod_1Da(Image i, Image, float2 c, float l) {
  return sample_lod(i, {1, {c.x}, layer_of(c.y)}, l);
}
API float4 __ockl_image_sample_lod_2D(Image i, Image, float2 c, float l) {
  return sample_lod(i, {2, {c.x, c.y}, 0}, l);
}
API float4 __ockl_image_sample_lod_2Da(Image i, Image, float4 c, float l) {
  return sample_lod(i, {2, {c.x, c.y}, layer_of(c.z)}, l);
}
API float4 __ockl_image_sample_lod_3D(Image i, Image, float4 c, float l) {
  return sample_lod(i, {3, {c.x, c.y, c.z}, 0}, l);
}
API float4 __ockl_image_sample_lod_CM(Image i, Image, float4 c, float l) {
  return sample_lod(i, cube(i, c.x, c.y, c.z, 0), l);
}
API float4 __ockl_image_sample_lod_CMa(Image i, Image, float4 c, float l) {
  return sample_lod(i, cube(i, c.x, c.y, c.z, layer_of(c.w)), l);
}

API float4 __ockl_image_sample_grad_1D(Image i, Image, float c, float dx, float dy) {
  return sample_lod(i, {1, {c}, 0}, lod_of(i, 1, &dx, &dy));
}
API float4 __ockl_image_sample_grad_1Da(Image i, Image, float2 c, float dx, float dy) {
  return sample_lod(i, {1, {c.x}, layer_of(c.y)}, lod_of(i, 1, &dx, &dy));
}
API float4 __ockl_image_sample_grad_2D(Image i, Image, float2 c, float2 dx, float2 dy) {
  const float x[] = {dx.x, dx.y}, y[] = {dy.x, dy.y};
  return sample_lod(i, {2, {c.x, c.y}, 0}, lod_of(i, 2, x, y));
}
API float4 __ockl_image_sample_grad_2Da(Image i, Image, float4 c, float2 dx, float2 dy) {
  const float x[] = {dx.x, dx.y}, y[] = {dy.x, dy.y};
  return sample_lod(i, {2, {c.x, c.y}, layer_of(c.z)}, lod_of(i, 2, x, y));
}
API float4 __ockl_image_sample_grad_3D(Image i, Image, float4 c, float4 dx, float4 dy) {
  const float x[] = {dx.x, dx.y, dx.z}, y[] = {dy.x, dy.y, dy.z};
  return sample_lod(i, {3, {c.x, c.y, c.z}, 0}, lod_of(i, 3, x, y));
}

API float4 __ockl_image_gather4r_2D(Image i, Image, float2 c) { return gather(i, c, 0); }
API float4 __ockl_image_gather4g_2D(Image i, Image, float2 c) { return gather(i, c, 1); }
API float4 __ockl_image_gather4b_2D(Image i, Image, float2 c) { return gather(i, c, 2); }
API float4 __ockl_image_gather4a_2D(Image i, Image, float2 c) { return gather(i, c, 3); }

#define DESCRIBE(kind)                                                           \
  API int __ockl_image_channel_data_type_##kind(Image i) { return hsa_type(i); } \
  API int __ockl_image_channel_order_##kind(Image i) { return hsa_order(i); }
DESCRIBE(1D)
DESCRIBE(1Da)
DESCRIBE(1Db)
DESCRIBE(2D)
DESCRIBE(2Da)
DESCRIBE(2Dad)
DESCRIBE(2Dd)
DESCRIBE(3D)
DESCRIBE(CM)
DESCRIBE(CMa)
