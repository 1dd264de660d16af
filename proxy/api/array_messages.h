// SPDX-License-Identifier: Apache-2.0
// Messages of arrays, textures and surfaces. The words and rules are those of messages.h. Copies to and from arrays
// are messages like other copies.
#pragma once

// --- 0x025x arrays, textures --------------------------------------------------------------------------

// Arrays are known by addresses that the client has counted out, laid out as hipcore/array/shape.h says. `levels` of
// one that is not mipmapped is 1. Copies name positions in them by address.
MESSAGE(0x0250, call, CreateArray) {
  u64 base;
  u64 width;
  u64 height;
  u64 depth;
  u32 format;             // hipArray_Format
  u32 channels;
  u32 flags;              // hipArrayDefault ...
  u32 levels;
  u32 mipmapped;
  u32 reserved;
};

// Ends after the earlier work of the array's device. What is sent later runs only then. Executable graphs that name the
// array can be launched only after an update.
MESSAGE(0x0251, post, DestroyArray) NO_WORK { u64 base; };

// A texture object. `address`: of an array, a mipmapped array's first level, or memory, as `resource` says. Floats
// travel as their bits. The answer is what kernels get.
MESSAGE(0x0252, call, CreateTexture) {
  u64 address;
  u64 bytes;              // hipResourceTypeLinear
  u64 width;              // hipResourceTypePitch2D, in elements; and its rows
  u64 height;
  u64 pitch;
  u64 view_width;
  u64 view_height;
  u64 view_depth;
  u32 resource;           // hipResourceType
  u32 format;             // of memory: hipArray_Format
  u32 channels;
  u32 address_modes[3];   // hipTextureAddressMode
  u32 filter;             // hipTextureFilterMode
  u32 read_mode;          // hipTextureReadMode
  u32 srgb;
  u32 normalized_coordinates;
  u32 mipmap_filter;
  u32 level_min;
  u32 level_max;
  u32 border[4];
  u32 has_view;
  u32 view_format;        // hipResourceViewFormat
  u32 view_levels[2];     // first and last
  u32 view_layers[2];
  u32 reserved;
};
REPLY(CreateTexture) { u64 texture; };

// Ends after the earlier work of the device that it was created on; so does a surface.
MESSAGE(0x0253, post, DestroyTexture) NO_WORK { u64 texture; };

// `address`: of an array.
MESSAGE(0x0254, call, CreateSurface) { u64 address; };
REPLY(CreateSurface) { u64 surface; };

MESSAGE(0x0255, post, DestroySurface) NO_WORK { u64 surface; };
