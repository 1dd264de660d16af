// SPDX-License-Identifier: Apache-2.0
// Textures and surfaces for NVIDIA GPUs: the image functions of AMD's device libraries as instructions of
// PTX.
//
// HIP's headers take an object for a pointer. Here it is a number: the driver's texture object, or a surface
// object with its elements' form (surface_form.h). The hardware samples, so what it defines differs from the
// host's cores: weights of linear filters have 8 bits of fraction, faces of cubemaps are filtered across
// their edges, and all channels that an element lacks read zero.
#include <stdint.h>
#include <surface_form.h>

#pragma clang force_cuda_host_device begin

#define API extern "C" __attribute__((always_inline))
#define INSIDE __attribute__((always_inline)) inline

namespace {

typedef float float2 __attribute__((ext_vector_type(2)));
typedef float float4 __attribute__((ext_vector_type(4)));
typedef int int2 __attribute__((ext_vector_type(2)));
typedef int int4 __attribute__((ext_vector_type(4)));
typedef uint32_t uint4 __attribute__((ext_vector_type(4)));
typedef const void* Image;

constexpr uint32_t kFaces = 6;

INSIDE uint64_t object(Image image) { return reinterpret_cast<uint64_t>(image); }
INSIDE uint32_t bits(float value) {
  uint32_t same;
  __builtin_memcpy(&same, &value, sizeof same);
  return same;
}
INSIDE float as_float(uint32_t value) {
  float same;
  __builtin_memcpy(&same, &value, sizeof same);
  return same;
}
// Layers are numbers; the hardware takes the last one for those beyond.
INSIDE int layer_of(float coordinate) {
  return coordinate > 0.0f ? static_cast<int>(__nvvm_f2i_rn(coordinate)) : 0;
}

// ---- surfaces -------------------------------------------------------------------------------------------

INSIDE uint32_t form_of(Image image) {
  return static_cast<uint32_t>(object(image) >> HIPR_SURFACE_FORM_SHIFT);
}
INSIDE uint32_t channels_of(uint32_t form) { return form & HIPR_SURFACE_CHANNELS_MASK; }
INSIDE uint32_t type_of(uint32_t form) { return form >> HIPR_SURFACE_TYPE_SHIFT; }
INSIDE uint32_t channel_bytes(uint32_t type) {
  switch (type) {
    case HIPR_SURFACE_INT8:
    case HIPR_SURFACE_UINT8: return 1;
    case HIPR_SURFACE_INT16:
    case HIPR_SURFACE_UINT16:
    case HIPR_SURFACE_HALF: return 2;
    default: return 4;
  }
}
INSIDE uint32_t element_bytes(uint32_t form) { return channel_bytes(type_of(form)) * channels_of(form); }

INSIDE uint32_t half_of(float value) {
  uint16_t half;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(half) : "f"(value));
  return half;
}
INSIDE float of_half(uint32_t half) {
  float value;
  asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(static_cast<uint16_t>(half)));
  return value;
}

// An element in memory, as words, from and to what kernels see: floats, or the bits of integers.
INSIDE float channel(uint32_t type, uint4 words, uint32_t index) {
  switch (type) {
    case HIPR_SURFACE_INT8:
      return as_float(static_cast<uint32_t>(static_cast<int8_t>(words.x >> (8 * index))));
    case HIPR_SURFACE_UINT8: return as_float((words.x >> (8 * index)) & 0xff);
    default: break;
  }
  const uint32_t pair = (index < 2 ? words.x : words.y) >> (16 * (index & 1));
  switch (type) {
    case HIPR_SURFACE_INT16: return as_float(static_cast<uint32_t>(static_cast<int16_t>(pair)));
    case HIPR_SURFACE_UINT16: return as_float(pair & 0xffff);
    case HIPR_SURFACE_HALF: return of_half(pair & 0xffff);
    default: return as_float(index == 0 ? words.x : index == 1 ? words.y : index == 2 ? words.z : words.w);
  }
}
INSIDE float4 unpack(uint32_t form, uint4 words) {
  const uint32_t type = type_of(form), channels = channels_of(form);
  const float one = type >= HIPR_SURFACE_HALF ? 1.0f : as_float(1);
  float4 value = {channel(type, words, 0), 0.0f, 0.0f, one};
  if (channels > 1) value.y = channel(type, words, 1);
  if (channels > 2) {
    value.z = channel(type, words, 2);
    value.w = channel(type, words, 3);
  }
  return value;
}
INSIDE uint4 pack(uint32_t form, float4 value) {
  const uint32_t type = type_of(form);
  uint4 words = {bits(value.x), bits(value.y), bits(value.z), bits(value.w)};
  if (type == HIPR_SURFACE_HALF)
    words = {half_of(value.x), half_of(value.y), half_of(value.z), half_of(value.w)};
  switch (channel_bytes(type)) {
    case 1:
      return {(words.x & 0xff) | (words.y & 0xff) << 8 | (words.z & 0xff) << 16 | words.w << 24, 0, 0, 0};
    case 2: return {(words.x & 0xffff) | words.y << 16, (words.z & 0xffff) | words.w << 16, 0, 0};
    default: return words;
  }
}

// Where an element lies: x in bytes, and what the geometry has of the others.
struct Place {
  int x, y, z, layer;
};

// The operands of an instruction that loads or stores one element: the words %0 to %3, the object %4, x, y, z
// and the layer %5 to %8.
#define AT(s, c) "l"(s), "r"(c.x), "r"(c.y), "r"(c.z), "r"(c.layer)
#define LOAD(text, s, c) asm volatile(text : "+r"(w.x), "+r"(w.y), "+r"(w.z), "+r"(w.w) : AT(s, c) : "memory")
#define STORE(text, s, c) asm volatile(text ::"r"(w.x), "r"(w.y), "r"(w.z), "r"(w.w), AT(s, c) : "memory")
#define SMALL(geometry, size, at) \
  "{ .reg .u16 t; suld.b." geometry "." size ".zero t, [%4, " at "]; cvt.u32.u16 %0, t; }"
#define PUT_SMALL(geometry, size, at) \
  "{ .reg .u16 t; cvt.u16.u32 t, %0; sust.b." geometry "." size ".zero [%4, " at "], t; }"

// One geometry of PTX; `at` are its coordinates. Outside of the array loads read zero and stores write
// nothing.
#define GEOMETRY(name, geometry, at)                                                                  \
  INSIDE uint4 load_##name(uint64_t s, uint32_t bytes, Place c) {                                     \
    uint4 w = {0, 0, 0, 0};                                                                           \
    switch (bytes) {                                                                                  \
      case 1: LOAD(SMALL(geometry, "b8", at), s, c); break;                                           \
      case 2: LOAD(SMALL(geometry, "b16", at), s, c); break;                                          \
      case 4: LOAD("suld.b." geometry ".b32.zero %0, [%4, " at "];", s, c); break;                    \
      case 8: LOAD("suld.b." geometry ".v2.b32.zero {%0, %1}, [%4, " at "];", s, c); break;           \
      default: LOAD("suld.b." geometry ".v4.b32.zero {%0, %1, %2, %3}, [%4, " at "];", s, c); break;  \
    }                                                                                                 \
    return w;                                                                                         \
  }                                                                                                   \
  INSIDE void store_##name(uint64_t s, uint32_t bytes, Place c, uint4 w) {                            \
    switch (bytes) {                                                                                  \
      case 1: STORE(PUT_SMALL(geometry, "b8", at), s, c); break;                                      \
      case 2: STORE(PUT_SMALL(geometry, "b16", at), s, c); break;                                     \
      case 4: STORE("sust.b." geometry ".b32.zero [%4, " at "], %0;", s, c); break;                   \
      case 8: STORE("sust.b." geometry ".v2.b32.zero [%4, " at "], {%0, %1};", s, c); break;          \
      default: STORE("sust.b." geometry ".v4.b32.zero [%4, " at "], {%0, %1, %2, %3};", s, c); break; \
    }                                                                                                 \
  }
GEOMETRY(line, "1d", "{%5}")
GEOMETRY(plane, "2d", "{%5, %6}")
GEOMETRY(box, "3d", "{%5, %6, %7, %7}")
GEOMETRY(lines, "a1d", "{%8, %5}")
GEOMETRY(planes, "a2d", "{%8, %5, %6, %6}")

// The form of a surface object. Values without one are not of this runtime: the kernel ends, and the stream
// says so.
INSIDE uint32_t known_form(Image image) {
  const uint32_t form = form_of(image);
  if (form == 0) __builtin_trap();
  return form;
}
// Layers that there are not read zero, and writing them does nothing.
INSIDE bool has_layer(Image image, const Place& at) {
  const uint32_t layers =
      static_cast<uint32_t>(object(image) >> HIPR_SURFACE_LAYERS_SHIFT) & HIPR_SURFACE_LAYERS_MASK;
  return static_cast<uint32_t>(at.layer) < layers;
}
// Bytes from the begin of a row; elements that there are not stay outside.
constexpr int kElementsMax = 1 << 27;
constexpr int kOutsideByte = -16;  // aligned for every element
INSIDE int row_byte(int x, uint32_t bytes) {
  return static_cast<uint32_t>(x) < kElementsMax ? x * static_cast<int>(bytes) : kOutsideByte;
}
#define READS(name)                                                                        \
  INSIDE float4 read_##name(Image image, Place at) {                                       \
    const uint32_t form = known_form(image), bytes = element_bytes(form);                  \
    if (!has_layer(image, at)) return unpack(form, uint4(0));                              \
    at.x = row_byte(at.x, bytes);                                                          \
    return unpack(form, load_##name(object(image) & HIPR_SURFACE_OBJECT_MASK, bytes, at)); \
  }                                                                                        \
  INSIDE void write_##name(Image image, Place at, float4 value) {                          \
    const uint32_t form = known_form(image), bytes = element_bytes(form);                  \
    if (!has_layer(image, at)) return;                                                     \
    at.x = row_byte(at.x, bytes);                                                          \
    store_##name(object(image) & HIPR_SURFACE_OBJECT_MASK, bytes, at, pack(form, value));  \
  }
READS(line)
READS(plane)
READS(box)
READS(lines)
READS(planes)

// Cubemaps are layers, six for each cube. kNowhere: beyond every array.
constexpr int kNowhere = 1 << 30;
INSIDE int slice_of(int layer, int face) {
  const bool known = static_cast<uint32_t>(face) < kFaces && static_cast<uint32_t>(layer) < kNowhere / kFaces;
  return known ? layer * static_cast<int>(kFaces) + face : kNowhere;
}
INSIDE int on_level(int x, int level) { return level == 0 ? x : kNowhere; }  // surfaces have one level

INSIDE int hsa_order(Image image) {
  const uint32_t channels = channels_of(known_form(image));
  return channels == 1 ? 1 : channels == 2 ? 3 : 8;
}
INSIDE int hsa_type(Image image) { return static_cast<int>(type_of(known_form(image))); }

}  // namespace

// ---- surfaces: what kernels call. a an array of layers, CM a cubemap ------------------------------------
API float4 __ockl_image_load_1D(Image i, int c) { return read_line(i, {c, 0, 0, 0}); }
API float4 __ockl_image_load_1Da(Image i, int2 c) { return read_lines(i, {c.x, 0, 0, c.y}); }
API float4 __ockl_image_load_2D(Image i, int2 c) { return read_plane(i, {c.x, c.y, 0, 0}); }
API float4 __ockl_image_load_2Da(Image i, int4 c) { return read_planes(i, {c.x, c.y, 0, c.z}); }
API float4 __ockl_image_load_3D(Image i, int4 c) { return read_box(i, {c.x, c.y, c.z, 0}); }
API float4 __ockl_image_load_CM(Image i, int2 c, int f) {
  return read_planes(i, {c.x, c.y, 0, slice_of(0, f)});
}
API float4 __ockl_image_load_CMa(Image i, int4 c, int f) {
  return read_planes(i, {c.x, c.y, 0, slice_of(c.z, f)});
}

API void __ockl_image_store_1D(Image i, int c, float4 p) { write_line(i, {c, 0, 0, 0}, p); }
API void __ockl_image_store_1Da(Image i, int2 c, float4 p) { write_lines(i, {c.x, 0, 0, c.y}, p); }
API void __ockl_image_store_2D(Image i, int2 c, float4 p) { write_plane(i, {c.x, c.y, 0, 0}, p); }
API void __ockl_image_store_2Da(Image i, int4 c, float4 p) { write_planes(i, {c.x, c.y, 0, c.z}, p); }
API void __ockl_image_store_3D(Image i, int4 c, float4 p) { write_box(i, {c.x, c.y, c.z, 0}, p); }
API void __ockl_image_store_CM(Image i, int2 c, int f, float4 p) {
  write_planes(i, {c.x, c.y, 0, slice_of(0, f)}, p);
}
API void __ockl_image_store_CMa(Image i, int4 c, int f, float4 p) {
  write_planes(i, {c.x, c.y, 0, slice_of(c.z, f)}, p);
}

API float4 __ockl_image_load_lod_1D(Image i, int c, int l) { return read_line(i, {on_level(c, l), 0, 0, 0}); }
API float4 __ockl_image_load_lod_2D(Image i, int2 c, int l) {
  return read_plane(i, {on_level(c.x, l), c.y, 0, 0});
}
API float4 __ockl_image_load_lod_CM(Image i, int2 c, int f, int l) {
  return read_planes(i, {on_level(c.x, l), c.y, 0, slice_of(0, f)});
}
API void __ockl_image_store_lod_1D(Image i, int c, int l, float4 p) {
  write_line(i, {on_level(c, l), 0, 0, 0}, p);
}
API void __ockl_image_store_lod_2D(Image i, int2 c, int l, float4 p) {
  write_plane(i, {on_level(c.x, l), c.y, 0, 0}, p);
}
API void __ockl_image_store_lod_CM(Image i, int2 c, int f, int l, float4 p) {
  write_planes(i, {on_level(c.x, l), c.y, 0, slice_of(0, f)}, p);
}

#define DESCRIBE(kind)                                                           \
  API int __ockl_image_channel_data_type_##kind(Image i) { return hsa_type(i); } \
  API int __ockl_image_channel_order_##kind(Image i) { return hsa_order(i); }
DESCRIBE(1D)
DESCRIBE(1Da)
DESCRIBE(2D)
DESCRIBE(2Da)
DESCRIBE(3D)
DESCRIBE(CM)
DESCRIBE(CMa)

// ---- textures. The sampler belongs to the object: the second argument says nothing more -----------------

// Operands from %5 on are the coordinates, as floats but for layers and what is fetched.
#define TEXTURE(text, ...)                                                              \
  float4 v;                                                                             \
  asm(text : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w) : "l"(object(i)), __VA_ARGS__); \
  return v
#define RESULT " {%0, %1, %2, %3}, "

API float4 __ockl_image_load_1Db(Image i, int c) {
  TEXTURE("tex.1d.v4.f32.s32" RESULT "[%4, {%5}];", "r"(c));
}

API float4 __ockl_image_sample_1D(Image i, Image, float c) {
  TEXTURE("tex.1d.v4.f32.f32" RESULT "[%4, {%5}];", "f"(c));
}
API float4 __ockl_image_sample_1Da(Image i, Image, float2 c) {
  TEXTURE("tex.a1d.v4.f32.f32" RESULT "[%4, {%6, %5}];", "f"(c.x), "r"(layer_of(c.y)));
}
API float4 __ockl_image_sample_2D(Image i, Image, float2 c) {
  TEXTURE("tex.2d.v4.f32.f32" RESULT "[%4, {%5, %6}];", "f"(c.x), "f"(c.y));
}
API float4 __ockl_image_sample_2Da(Image i, Image, float4 c) {
  TEXTURE("tex.a2d.v4.f32.f32" RESULT "[%4, {%7, %5, %6, %6}];", "f"(c.x), "f"(c.y), "r"(layer_of(c.z)));
}
API float4 __ockl_image_sample_3D(Image i, Image, float4 c) {
  TEXTURE("tex.3d.v4.f32.f32" RESULT "[%4, {%5, %6, %7, %7}];", "f"(c.x), "f"(c.y), "f"(c.z));
}
API float4 __ockl_image_sample_CM(Image i, Image, float4 c) {
  TEXTURE("tex.cube.v4.f32.f32" RESULT "[%4, {%5, %6, %7, %7}];", "f"(c.x), "f"(c.y), "f"(c.z));
}
API float4 __ockl_image_sample_CMa(Image i, Image, float4 c) {
  TEXTURE("tex.acube.v4.f32.f32" RESULT "[%4, {%8, %5, %6, %7}];", "f"(c.x), "f"(c.y), "f"(c.z),
          "r"(layer_of(c.w)));
}

API float4 __ockl_image_sample_lod_1D(Image i, Image, float c, float l) {
  TEXTURE("tex.level.1d.v4.f32.f32" RESULT "[%4, {%5}], %6;", "f"(c), "f"(l));
}
API float4 __ockl_image_sample_lod_1Da(Image i, Image, float2 c, float l) {
  TEXTURE("tex.level.a1d.v4.f32.f32" RESULT "[%4, {%6, %5}], %7;", "f"(c.x), "r"(layer_of(c.y)), "f"(l));
}
API float4 __ockl_image_sample_lod_2D(Image i, Image, float2 c, float l) {
  TEXTURE("tex.level.2d.v4.f32.f32" RESULT "[%4, {%5, %6}], %7;", "f"(c.x), "f"(c.y), "f"(l));
}
API float4 __ockl_image_sample_lod_2Da(Image i, Image, float4 c, float l) {
  TEXTURE("tex.level.a2d.v4.f32.f32" RESULT "[%4, {%7, %5, %6, %6}], %8;", "f"(c.x), "f"(c.y),
          "r"(layer_of(c.z)), "f"(l));
}
API float4 __ockl_image_sample_lod_3D(Image i, Image, float4 c, float l) {
  TEXTURE("tex.level.3d.v4.f32.f32" RESULT "[%4, {%5, %6, %7, %7}], %8;", "f"(c.x), "f"(c.y), "f"(c.z),
          "f"(l));
}
API float4 __ockl_image_sample_lod_CM(Image i, Image, float4 c, float l) {
  TEXTURE("tex.level.cube.v4.f32.f32" RESULT "[%4, {%5, %6, %7, %7}], %8;", "f"(c.x), "f"(c.y), "f"(c.z),
          "f"(l));
}
API float4 __ockl_image_sample_lod_CMa(Image i, Image, float4 c, float l) {
  TEXTURE("tex.level.acube.v4.f32.f32" RESULT "[%4, {%8, %5, %6, %7}], %9;", "f"(c.x), "f"(c.y), "f"(c.z),
          "r"(layer_of(c.w)), "f"(l));
}

API float4 __ockl_image_sample_grad_1D(Image i, Image, float c, float dx, float dy) {
  TEXTURE("tex.grad.1d.v4.f32.f32" RESULT "[%4, {%5}], {%6}, {%7};", "f"(c), "f"(dx), "f"(dy));
}
API float4 __ockl_image_sample_grad_1Da(Image i, Image, float2 c, float dx, float dy) {
  TEXTURE("tex.grad.a1d.v4.f32.f32" RESULT "[%4, {%6, %5}], {%7}, {%8};", "f"(c.x), "r"(layer_of(c.y)),
          "f"(dx), "f"(dy));
}
API float4 __ockl_image_sample_grad_2D(Image i, Image, float2 c, float2 dx, float2 dy) {
  TEXTURE("tex.grad.2d.v4.f32.f32" RESULT "[%4, {%5, %6}], {%7, %8}, {%9, %10};", "f"(c.x), "f"(c.y),
          "f"(dx.x), "f"(dx.y), "f"(dy.x), "f"(dy.y));
}
API float4 __ockl_image_sample_grad_2Da(Image i, Image, float4 c, float2 dx, float2 dy) {
  TEXTURE("tex.grad.a2d.v4.f32.f32" RESULT "[%4, {%7, %5, %6, %6}], {%8, %9}, {%10, %11};", "f"(c.x),
          "f"(c.y), "r"(layer_of(c.z)), "f"(dx.x), "f"(dx.y), "f"(dy.x), "f"(dy.y));
}
API float4 __ockl_image_sample_grad_3D(Image i, Image, float4 c, float4 dx, float4 dy) {
  TEXTURE("tex.grad.3d.v4.f32.f32" RESULT "[%4, {%5, %6, %7, %7}], {%8, %9, %10, %10}, {%11, %12, %13, %13};",
          "f"(c.x), "f"(c.y), "f"(c.z), "f"(dx.x), "f"(dx.y), "f"(dx.z), "f"(dy.x), "f"(dy.y), "f"(dy.z));
}

#define GATHER(letter)                                                                      \
  API float4 __ockl_image_gather4##letter##_2D(Image i, Image, float2 c) {                  \
    TEXTURE("tld4." #letter ".2d.v4.f32.f32" RESULT "[%4, {%5, %6}];", "f"(c.x), "f"(c.y)); \
  }
GATHER(r)
GATHER(g)
GATHER(b)
GATHER(a)
#pragma clang force_cuda_host_device end
