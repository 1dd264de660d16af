// SPDX-License-Identifier: Apache-2.0
// What the value of a surface object says about its elements, for NVIDIA GPUs.
//
// PTX addresses surfaces by bytes and wants the size of an element in the instruction; HIP's functions count
// elements and leave the format to the object. The driver cannot be asked for it in a kernel (suq of the
// channel's type is refused when the module is loaded). The driver's surface objects have 32 bits, which is
// all that the hardware looks at (measured on an H100), so our runtime puts the format above them, and the
// number of layers: beyond the last one, the hardware takes another one.
#pragma once

#include <stdint.h>

// Bits of the 64 that a surface object has: the form of an element, layers or faces, the driver's object.
// Texture objects, and surfaces of others, have zeros above the object.
#define HIPR_SURFACE_FORM_SHIFT 56
#define HIPR_SURFACE_LAYERS_SHIFT 32
#define HIPR_SURFACE_LAYERS_MASK 0xffffff
#define HIPR_SURFACE_OBJECT_MASK 0xffffffff
// A form: hsa_ext_image_channel_type_t (of the HSA runtime specification) above, the number of channels
// below.
#define HIPR_SURFACE_TYPE_SHIFT 4
#define HIPR_SURFACE_CHANNELS_MASK 15

enum HiprSurfaceType {
  HIPR_SURFACE_INT8 = 8,
  HIPR_SURFACE_INT16 = 9,
  HIPR_SURFACE_INT32 = 10,
  HIPR_SURFACE_UINT8 = 11,
  HIPR_SURFACE_UINT16 = 12,
  HIPR_SURFACE_UINT32 = 13,
  HIPR_SURFACE_HALF = 14,
  HIPR_SURFACE_FLOAT = 15
};
