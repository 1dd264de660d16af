// SPDX-License-Identifier: Apache-2.0
// What a texture or surface object is to kernels on the host's cores: the handle is the address of a
// HiprImage. The runtime writes it once, kernels only read it.
#pragma once

#include <stdint.h>

#define HIPR_IMAGE_LEVELS_MAX 16

struct HiprImageLevel {
  unsigned char* base;
  uint64_t pitch;  // bytes from row to row
  uint64_t slice;  // bytes from slice to slice, layer to layer or face to face
  uint32_t width;  // elements
  uint32_t height;
  uint32_t depth;  // slices, layers or faces
  uint32_t reserved;
};

struct HiprImage {
  uint32_t format;  // hipArray_Format
  uint32_t channels;
  uint32_t levels;
  uint32_t address_mode[3];  // hipTextureAddressMode
  uint32_t linear;           // hipTextureFilterMode
  uint32_t mipmap_linear;
  uint32_t normalized_coordinates;
  uint32_t normalized_read;  // integers of 8 and 16 bits are read as floats
  uint32_t srgb;
  float border[4];
  float level_min;
  float level_max;
  struct HiprImageLevel level[HIPR_IMAGE_LEVELS_MAX];
};
