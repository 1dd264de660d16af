// SPDX-License-Identifier: Apache-2.0
// What one processor differs in from others, as data: spellings, sizes of waves, rules of registers. What a
// mnemonic computes stands in the table's rows, which all processors share.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace tf::amd::isa {

// What the disassembler writes, and the row of the table that is meant.
struct Renamed {
  std::string_view name;
  std::string_view row;
};

// From a version of LLVM on, its disassembler has this processor.
struct Decoder {
  int llvm;
  const char* processor;
};

// Which fields a descriptor of an image has (image_descriptor.h).
enum class ImageLayout : std::uint8_t { kNone, kGfx9, kGfx11 };

struct Processor {
  std::string_view name = {};              // "gfx1100"
  std::span<const Decoder> decoders = {};  // the newest first
  std::span<const Renamed> names = {};
  std::span<const Renamed> memory_names = {};  // behind "global_", "flat_", "scratch_" or "buffer_"
  std::string_view variant = {};               // a row "NAME" + variant stands for NAME
  bool wave32 = false;                         // there are waves of 32 lanes
  bool halves_stay = false;                    // results of 16 bits leave the register's other half as it was
  bool buffers_say_bounds = false;             // OOB_SELECT of a buffer's descriptor [RDNA3 chapter 9.1]
  int flat_scratch = 0;                        // the scalar register FLAT_SCRATCH_LO
  int permute_lanes = 64;                      // ds_permute and ds_bpermute reach so many
  ImageLayout images = ImageLayout::kNone;
  bool filters_depth = false;  // linear filters of images of three axes
  // blgp of an MFMA moves lanes of B, unless they are doubles. False: of some only, and doubles it negates.
  bool moves_lanes_of_b = false;
  bool preloads = false;  // arguments into registers when a kernel begins
};

// Null: not known.
const Processor* find_processor(std::string_view name);

}  // namespace tf::amd::isa
