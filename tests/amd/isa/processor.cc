// SPDX-License-Identifier: Apache-2.0
// The processors that are known. Names are those of LLVM's disassembler.
#include "tests/amd/isa/processor.h"

#include "tests/amd/isa/wave.h"

namespace tf::amd::isa {
namespace {

// gfx940 and gfx942 count the matrices in a name ("4b") and put a line before the type of A and B.
constexpr Renamed kGfx942Names[] = {
    {"v_mfma_f32_32x32x1_2b_f32", "v_mfma_f32_32x32x1f32"},
    {"v_mfma_f32_16x16x1_4b_f32", "v_mfma_f32_16x16x1f32"},
    {"v_mfma_f32_4x4x1_16b_f32", "v_mfma_f32_4x4x1f32"},
    {"v_mfma_f32_32x32x2_f32", "v_mfma_f32_32x32x2f32"},
    {"v_mfma_f32_16x16x4_f32", "v_mfma_f32_16x16x4f32"},
    {"v_mfma_f32_32x32x4_2b_f16", "v_mfma_f32_32x32x4f16"},
    {"v_mfma_f32_16x16x4_4b_f16", "v_mfma_f32_16x16x4f16"},
    {"v_mfma_f32_4x4x4_16b_f16", "v_mfma_f32_4x4x4f16"},
    {"v_mfma_f32_32x32x8_f16", "v_mfma_f32_32x32x8f16"},
    {"v_mfma_f32_16x16x16_f16", "v_mfma_f32_16x16x16f16"},
    {"v_mfma_i32_32x32x4_2b_i8", "v_mfma_i32_32x32x4i8"},
    {"v_mfma_i32_16x16x4_4b_i8", "v_mfma_i32_16x16x4i8"},
    {"v_mfma_i32_4x4x4_16b_i8", "v_mfma_i32_4x4x4i8"},
    {"v_mfma_f32_32x32x4_2b_bf16", "v_mfma_f32_32x32x4bf16_1k"},
    {"v_mfma_f32_16x16x4_4b_bf16", "v_mfma_f32_16x16x4bf16_1k"},
    {"v_mfma_f32_4x4x4_16b_bf16", "v_mfma_f32_4x4x4bf16_1k"},
    {"v_mfma_f32_32x32x8_bf16", "v_mfma_f32_32x32x8bf16_1k"},
    {"v_mfma_f32_16x16x16_bf16", "v_mfma_f32_16x16x16bf16_1k"},
    {"v_mfma_f64_16x16x4_f64", "v_mfma_f64_16x16x4f64"},
    {"v_mfma_f64_4x4x4_4b_f64", "v_mfma_f64_4x4x4f64"},
};

#define TF_BOTH_SIZES(name, row) \
  {name "_b32", row "_b32"}, { name "_b64", row "_b64" }

constexpr Renamed kGfx11Names[] = {
    // Scalars.
    TF_BOTH_SIZES("s_and_not1", "s_andn2"),
    TF_BOTH_SIZES("s_or_not1", "s_orn2"),
    TF_BOTH_SIZES("s_and_not1_saveexec", "s_andn2_saveexec"),
    TF_BOTH_SIZES("s_or_not1_saveexec", "s_orn2_saveexec"),
    TF_BOTH_SIZES("s_and_not0_saveexec", "s_andn1_saveexec"),
    TF_BOTH_SIZES("s_or_not0_saveexec", "s_orn1_saveexec"),
    TF_BOTH_SIZES("s_and_not1_wrexec", "s_andn2_wrexec"),
    TF_BOTH_SIZES("s_and_not0_wrexec", "s_andn1_wrexec"),
    {"s_ctz_i32_b32", "s_ff1_i32_b32"},
    {"s_ctz_i32_b64", "s_ff1_i32_b64"},
    {"s_clz_i32_u32", "s_flbit_i32_b32"},
    {"s_clz_i32_u64", "s_flbit_i32_b64"},
    {"s_cls_i32", "s_flbit_i32"},
    {"s_cls_i32_i64", "s_flbit_i32_i64"},
    {"s_load_b32", "s_load_dword"},
    {"s_load_b64", "s_load_dwordx2"},
    {"s_load_b128", "s_load_dwordx4"},
    {"s_load_b256", "s_load_dwordx8"},
    {"s_load_b512", "s_load_dwordx16"},
    {"s_buffer_load_b32", "s_buffer_load_dword"},
    {"s_buffer_load_b64", "s_buffer_load_dwordx2"},
    {"s_buffer_load_b128", "s_buffer_load_dwordx4"},
    {"s_buffer_load_b256", "s_buffer_load_dwordx8"},
    {"s_buffer_load_b512", "s_buffer_load_dwordx16"},
    // Vectors. "nc": no carry; "ci": carry in.
    {"v_add_nc_u32", "v_add_u32"},
    {"v_sub_nc_u32", "v_sub_u32"},
    {"v_subrev_nc_u32", "v_subrev_u32"},
    {"v_add_nc_i32", "v_add_i32"},
    {"v_sub_nc_i32", "v_sub_i32"},
    {"v_add_nc_u16", "v_add_u16"},
    {"v_sub_nc_u16", "v_sub_u16"},
    {"v_add_nc_i16", "v_add_i16"},
    {"v_sub_nc_i16", "v_sub_i16"},
    {"v_add_co_ci_u32", "v_addc_co_u32"},
    {"v_sub_co_ci_u32", "v_subb_co_u32"},
    {"v_subrev_co_ci_u32", "v_subbrev_co_u32"},
    {"v_mul_dx9_zero_f32", "v_mul_legacy_f32"},
    {"v_cvt_pk_rtz_f16_f32", "v_cvt_pkrtz_f16_f32"},
    {"v_cvt_pk_norm_i16_f32", "v_cvt_pknorm_i16_f32"},
    {"v_cvt_pk_norm_u16_f32", "v_cvt_pknorm_u16_f32"},
    {"v_cvt_nearest_i32_f32", "v_cvt_rpi_i32_f32"},
    {"v_cvt_floor_i32_f32", "v_cvt_flr_i32_f32"},
    {"v_clz_i32_u32", "v_ffbh_u32"},
    {"v_ctz_i32_b32", "v_ffbl_b32"},
    {"v_cls_i32", "v_ffbh_i32"},
    {"v_dot2acc_f32_f16", "v_dot2c_f32_f16"},
    {"v_cmp_t_f16", "v_cmp_tru_f16"},
    {"v_cmp_t_f32", "v_cmp_tru_f32"},
    {"v_cmp_t_f64", "v_cmp_tru_f64"},
    {"v_cmpx_t_f16", "v_cmpx_tru_f16 rdna"},
    {"v_cmpx_t_f32", "v_cmpx_tru_f32 rdna"},
    {"v_cmpx_t_f64", "v_cmpx_tru_f64 rdna"},
    // LDS.
    {"ds_load_b32", "ds_read_b32"},
    {"ds_load_b64", "ds_read_b64"},
    {"ds_load_b96", "ds_read_b96"},
    {"ds_load_b128", "ds_read_b128"},
    {"ds_load_u8", "ds_read_u8"},
    {"ds_load_i8", "ds_read_i8"},
    {"ds_load_u16", "ds_read_u16"},
    {"ds_load_i16", "ds_read_i16"},
    {"ds_load_u8_d16", "ds_read_u8_d16 rdna"},
    {"ds_load_u8_d16_hi", "ds_read_u8_d16_hi rdna"},
    {"ds_load_i8_d16", "ds_read_i8_d16 rdna"},
    {"ds_load_i8_d16_hi", "ds_read_i8_d16_hi rdna"},
    {"ds_load_u16_d16", "ds_read_u16_d16 rdna"},
    {"ds_load_u16_d16_hi", "ds_read_u16_d16_hi rdna"},
    {"ds_load_2addr_b32", "ds_read2_b32"},
    {"ds_load_2addr_b64", "ds_read2_b64"},
    {"ds_load_2addr_stride64_b32", "ds_read2st64_b32"},
    {"ds_load_2addr_stride64_b64", "ds_read2st64_b64"},
    {"ds_store_b8", "ds_write_b8"},
    {"ds_store_b16", "ds_write_b16"},
    {"ds_store_b32", "ds_write_b32"},
    {"ds_store_b64", "ds_write_b64"},
    {"ds_store_b96", "ds_write_b96"},
    {"ds_store_b128", "ds_write_b128"},
    {"ds_store_b8_d16_hi", "ds_write_b8_d16_hi"},
    {"ds_store_b16_d16_hi", "ds_write_b16_d16_hi"},
    {"ds_store_2addr_b32", "ds_write2_b32"},
    {"ds_store_2addr_b64", "ds_write2_b64"},
    {"ds_store_2addr_stride64_b32", "ds_write2st64_b32"},
    {"ds_store_2addr_stride64_b64", "ds_write2st64_b64"},
    TF_BOTH_SIZES("ds_storexchg_rtn", "ds_wrxchg_rtn"),
    {"buffer_load_d16_format_xy", "buffer_load_format_d16_xy"},
    {"buffer_load_d16_format_xyzw", "buffer_load_format_d16_xyzw"},
    {"buffer_store_d16_format_xy", "buffer_store_format_d16_xy"},
    {"buffer_store_d16_format_xyzw", "buffer_store_format_d16_xyzw"},
};

// Behind "global_", "flat_", "scratch_" and "buffer_".
constexpr Renamed kGfx11MemoryNames[] = {
    {"load_b32", "load_dword"},
    {"load_b64", "load_dwordx2"},
    {"load_b96", "load_dwordx3"},
    {"load_b128", "load_dwordx4"},
    {"load_u8", "load_ubyte"},
    {"load_i8", "load_sbyte"},
    {"load_u16", "load_ushort"},
    {"load_i16", "load_sshort"},
    {"load_d16_u8", "load_ubyte_d16 rdna"},
    {"load_d16_hi_u8", "load_ubyte_d16_hi rdna"},
    {"load_d16_i8", "load_sbyte_d16 rdna"},
    {"load_d16_hi_i8", "load_sbyte_d16_hi rdna"},
    {"load_d16_b16", "load_short_d16 rdna"},
    {"load_d16_hi_b16", "load_short_d16_hi rdna"},
    {"store_b8", "store_byte"},
    {"store_b16", "store_short"},
    {"store_b32", "store_dword"},
    {"store_b64", "store_dwordx2"},
    {"store_b96", "store_dwordx3"},
    {"store_b128", "store_dwordx4"},
    {"store_d16_hi_b8", "store_byte_d16_hi"},
    {"store_d16_hi_b16", "store_short_d16_hi"},
    {"atomic_swap_b32", "atomic_swap"},
    {"atomic_cmpswap_b32", "atomic_cmpswap"},
    {"atomic_add_u32", "atomic_add"},
    {"atomic_sub_u32", "atomic_sub"},
    {"atomic_min_i32", "atomic_smin"},
    {"atomic_max_i32", "atomic_smax"},
    {"atomic_min_u32", "atomic_umin"},
    {"atomic_max_u32", "atomic_umax"},
    {"atomic_and_b32", "atomic_and"},
    {"atomic_or_b32", "atomic_or"},
    {"atomic_xor_b32", "atomic_xor"},
    {"atomic_inc_u32", "atomic_inc"},
    {"atomic_dec_u32", "atomic_dec"},
    {"atomic_swap_b64", "atomic_swap_x2"},
    {"atomic_cmpswap_b64", "atomic_cmpswap_x2"},
    {"atomic_add_u64", "atomic_add_x2"},
    {"atomic_sub_u64", "atomic_sub_x2"},
    {"atomic_min_i64", "atomic_smin_x2"},
    {"atomic_max_i64", "atomic_smax_x2"},
    {"atomic_min_u64", "atomic_umin_x2"},
    {"atomic_max_u64", "atomic_umax_x2"},
    {"atomic_and_b64", "atomic_and_x2"},
    {"atomic_or_b64", "atomic_or_x2"},
    {"atomic_xor_b64", "atomic_xor_x2"},
    {"atomic_inc_u64", "atomic_inc_x2"},
    {"atomic_dec_u64", "atomic_dec_x2"},
};

constexpr Decoder kGfx90aDecoders[] = {{14, "gfx90a"}};
// LLVM 15 has gfx940 only, whose instructions are the same.
constexpr Decoder kGfx942Decoders[] = {{17, "gfx942"}, {15, "gfx940"}};
constexpr Decoder kGfx1100Decoders[] = {{15, "gfx1100"}};

constexpr Processor cdna3(std::string_view name) {
  return {.name = name,
          .decoders = kGfx942Decoders,
          .names = kGfx942Names,
          .flat_scratch = kFlatScratchLo,
          .preloads = true};
}

constexpr Processor kProcessors[] = {
    {.name = "gfx90a",
     .decoders = kGfx90aDecoders,
     .flat_scratch = kFlatScratchLo,
     .images = ImageLayout::kGfx9,
     .moves_lanes_of_b = true,
     .preloads = true},
    cdna3("gfx940"),
    cdna3("gfx942"),
    {.name = "gfx1100",
     .decoders = kGfx1100Decoders,
     .names = kGfx11Names,
     .memory_names = kGfx11MemoryNames,
     .variant = " rdna",
     .wave32 = true,
     .halves_stay = true,
     .buffers_say_bounds = true,
     .flat_scratch = kHiddenFlatScratch,
     .permute_lanes = 32,
     .images = ImageLayout::kGfx11,
     .filters_depth = true},
};

}  // namespace

const Processor* find_processor(std::string_view name) {
  for (const Processor& each : kProcessors) {
    if (each.name == name) return &each;
  }
  return nullptr;
}

}  // namespace tf::amd::isa
