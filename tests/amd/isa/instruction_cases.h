// SPDX-License-Identifier: Apache-2.0
// Instructions, what their sources hold, and the bits that they give [CDNA2 chapter 12].
#pragma once

#include <cstdint>
#include <vector>

namespace tf::amd::isa {

constexpr std::uint32_t kUsualMode = 0x3f0;   // denormals are kept; DX10_CLAMP and IEEE
constexpr std::uint32_t kFlushMode = 0x3c0;   // denormals of floats are 0
constexpr std::uint32_t kNoIeeeMode = 0x1f0;  // signalling NaNs pass
constexpr std::uint32_t kUpMode = 0x3f1;      // floats are rounded up

struct Case {
  const char* text;
  std::vector<std::uint32_t> in;   // v0, v1 ... and s0, s1 ...
  std::vector<std::uint32_t> out;  // v6, v7; of scalar instructions s6, s7
  std::uint32_t mode = kUsualMode;
  int scc = -1;   // -1: any
  int lanes = 0;  // of a wave; 0: of any
};

constexpr std::uint32_t k1 = 0x3f800000, k2 = 0x40000000, k3 = 0x40400000, k5 = 0x40a00000, kInf = 0x7f800000;
constexpr std::uint32_t kQuiet = 0x7fc00001, kSignalling = 0x7f800001, kMinus0 = 0x80000000;

// clang-format off
inline const std::vector<Case> kCases = {
    // Rounding, denormals, modifiers.
    {"v_add_f32 v6, v0, v1", {k1, 0x33800000}, {k1}},  // 1 + 2^-24: ties to even
    {"v_add_f32 v6, v0, v1", {k1, 0x33800000}, {0x3f800001}, kUpMode},
    {"v_mul_f32 v6, v0, v1", {0x00800000, 0x3f000000}, {0x00400000}},
    {"v_mul_f32 v6, v0, v1", {0x00800000, 0x3f000000}, {0}, kFlushMode},
    {"v_add_f32 v6, v0, v1", {0x00000003, 0x00000004}, {0}, kFlushMode},
    {"v_mad_f32 v6, v0, v1, v2", {0x00400000, k1, 0}, {0}},  // never keeps denormals
    {"v_fma_f32 v6, v0, v1, v2", {0x00400000, k1, 0}, {0x00400000}},
    {"v_fma_f32 v6, v0, v1, v2", {0x3f800001, 0x3f800001, 0xbf800002}, {0x28800000}},  // one rounding
    {"v_mad_f32 v6, v0, v1, v2", {0x3f800001, 0x3f800001, 0xbf800002}, {0}},           // two
    {"v_sub_f32_e64 v6, -v0, |v1|", {k1, 0xc0000000}, {0xc0400000}},
    {"v_add_f32_e64 v6, v0, v1 clamp", {k1, k2}, {k1}},
    {"v_add_f32_e64 v6, v0, v1 mul:2", {k1, k2}, {0x40c00000}, kFlushMode},
    {"v_add_f32_e64 v6, v0, v1 clamp", {kQuiet, k2}, {0}},
    {"v_add_f32 v6, 0.15915494, v1", {0, 0}, {0x3e22f983}},
    {"v_subrev_f32 v6, v0, v1", {k1, k3}, {k2}},
    {"v_madmk_f32 v6, v0, 0x40000000, v1", {k3, k1}, {0x40e00000}},
    {"v_madak_f32 v6, v0, v1, 0x40000000", {k3, k1}, {0x40a00000}},
    // NaNs and zeros of min and max.
    {"v_min_f32 v6, v0, v1", {kQuiet, k2}, {k2}},
    {"v_max_f32 v6, v0, v1", {k2, kQuiet}, {k2}},
    {"v_min_f32 v6, v0, v1", {kSignalling, k2}, {0x7fc00001}},
    {"v_min_f32 v6, v0, v1", {kSignalling, k2}, {k2}, kNoIeeeMode},
    {"v_min_f32 v6, v0, v1", {0, kMinus0}, {kMinus0}},
    {"v_max_f32 v6, v0, v1", {kMinus0, 0}, {0}},
    {"v_med3_f32 v6, v0, v1, v2", {k3, k1, k2}, {k2}},
    // Faces of a cube: (1, 2, -3), (3, 1, 2), (-1, 3, 2), (1, 1, 1).
    {"v_cubeid_f32 v6, v0, v1, v2", {k1, k2, 0xc0400000}, {k5}},
    {"v_cubesc_f32 v6, v0, v1, v2", {k1, k2, 0xc0400000}, {0xbf800000}},
    {"v_cubetc_f32 v6, v0, v1, v2", {k1, k2, 0xc0400000}, {0xc0000000}},
    {"v_cubema_f32 v6, v0, v1, v2", {k1, k2, 0xc0400000}, {0xc0c00000}},
    {"v_cubeid_f32 v6, v0, v1, v2", {k3, k1, k2}, {0}},
    {"v_cubesc_f32 v6, v0, v1, v2", {k3, k1, k2}, {0xc0000000}},
    {"v_cubetc_f32 v6, v0, v1, v2", {k3, k1, k2}, {0xbf800000}},
    {"v_cubeid_f32 v6, v0, v1, v2", {0xbf800000, k3, k2}, {k2}},
    {"v_cubesc_f32 v6, v0, v1, v2", {0xbf800000, k3, k2}, {0xbf800000}},
    {"v_cubetc_f32 v6, v0, v1, v2", {0xbf800000, k3, k2}, {k2}},
    {"v_cubema_f32 v6, v0, v1, v2", {0xbf800000, k3, k2}, {0x40c00000}},
    {"v_cubeid_f32 v6, v0, v1, v2", {k1, k1, k1}, {0x40800000}},
    {"v_max3_f32 v6, v0, v1, v2", {k3, k1, kInf}, {kInf}},
    {"v_med3_i32 v6, v0, v1, v2", {5, 0xffffffff, 2}, {2}},
    {"v_min3_u32 v6, v0, v1, v2", {5, 0xffffffff, 2}, {2}},
    // Conversions.
    {"v_cvt_u32_f32 v6, v0", {0xbf800000}, {0}},
    {"v_cvt_u32_f32 v6, v0", {0x4f7fffff}, {0xffffff00}},
    {"v_cvt_u32_f32 v6, v0", {kInf}, {0xffffffff}},
    {"v_cvt_i32_f32 v6, v0", {0xcf000001}, {0x80000000}},
    {"v_cvt_i32_f32 v6, v0", {kQuiet}, {0}},
    {"v_cvt_i32_f32 v6, v0", {0xc0200000}, {0xfffffffe}},  // -2.5
    {"v_cvt_f32_u32 v6, v0", {0xffffffff}, {0x4f800000}},
    {"v_cvt_f16_f32 v6, v0", {0x477fe000}, {0x7bff}},
    {"v_cvt_f16_f32 v6, v0", {0x477ff000}, {0x7c00}},
    {"v_cvt_f16_f32 v6, v0", {0x33800000}, {0x0001}},
    {"v_cvt_f16_f32 v6, v0", {0x33000000}, {0}},  // a tie: to even
    {"v_cvt_f32_f16 v6, v0", {0x8001}, {0xb3800000}},
    {"v_cvt_f32_f16 v6, v0", {0x7c00}, {kInf}},
    {"v_cvt_pkrtz_f16_f32 v6, v0, v1", {0x3f801fff, 0x477fffff}, {0x7bff3c00}},
    {"v_cvt_f64_f32 v[6:7], v0", {k1}, {0, 0x3ff00000}},
    {"v_cvt_f32_f64 v6, v[0:1]", {0x10000000, 0x3ff00000}, {k1}},
    {"v_cvt_f64_i32 v[6:7], v0", {0xffffffff}, {0, 0xbff00000}},
    {"v_cvt_f32_ubyte2 v6, v0", {0x00030000}, {k3}},
    {"v_rndne_f32 v6, v0", {0x40200000}, {k2}},            // 2.5
    {"v_rndne_f32 v6, v0", {0x40200000}, {k2}, kUpMode},   // MODE does not count
    {"v_fract_f32 v6, v0", {0xbf000000}, {0x3f000000}},
    {"v_frexp_mant_f32 v6, v0", {k3}, {0x3f400000}},
    {"v_frexp_exp_i32_f32 v6, v0", {k3}, {2}},
    {"v_frexp_exp_i32_f32 v6, v0", {kInf}, {0}},
    {"v_ldexp_f32 v6, v0, v1", {k3, 0xffffffff}, {0x3fc00000}},
    {"v_ldexp_f64 v[6:7], v[0:1], v2", {0, 0x3ff00000, 3}, {0, 0x40200000}},
    // Parts of 2/pi: the first and second 53 bits, and for 1e22 and 1e300 later ones.
    {"v_trig_preop_f64 v[6:7], v[0:1], 0", {0, 0x3ff00000}, {0x6dc9c882, 0x3fe45f30}},
    {"v_trig_preop_f64 v[6:7], v[0:1], 1", {0, 0x3ff00000}, {0x9d5f47d4, 0x3c94a7f0}},
    {"v_trig_preop_f64 v[6:7], v[0:1], v2", {0, 0x3ff00000, 34}, {0x6db14acc, 0x394a6ee0}},  // 5 bits count
    {"v_trig_preop_f64 v[6:7], |v[0:1]|, 0", {0x064dd592, 0xc480f0cf}, {0x20a94fe0, 0x3e8b7272}},
    {"v_trig_preop_f64 v[6:7], v[0:1], 1", {0x8800759c, 0x7e37e43c}, {0xf67a0e72, 0x09a7cbe2}},
    {"v_rcp_f32 v6, v0", {k2}, {0x3f000000}},
    {"v_sqrt_f32 v6, v0", {0x40800000}, {k2}},
    {"v_exp_f32 v6, v0", {k3}, {0x41000000}},
    {"v_log_f32 v6, v0", {0x41000000}, {k3}},
    {"v_sin_f32 v6, v0", {0x3e800000}, {k1}},
    // Division.
    {"v_div_scale_f32 v6, vcc, v0, v0, v1", {0x00400000, k1}, {0x20000000}},  // a denormal denominator: 2^64 times
    {"v_div_scale_f32 v6, vcc, v0, v0, v1", {k2, k1}, {k2}},
    {"v_div_scale_f32 v6, vcc, v1, v0, v1", {0x0a800000, 0x3f800000}, {k1}},  // only the denominator
    {"v_div_scale_f32 v6, vcc, v0, v0, v1", {0x0a800000, 0x3f800000}, {0x2a800000}},
    {"v_div_fixup_f32 v6, v0, v1, v2", {k1, 0, 0}, {0xffc00000}},
    {"v_div_fixup_f32 v6, v0, v1, v2", {k1, kMinus0, k1}, {0xff800000}},
    {"v_div_fixup_f32 v6, v0, v1, v2", {k1, kInf, k1}, {0}},
    {"v_div_fixup_f32 v6, v0, v1, v2", {k1, k1, kSignalling}, {0x7fc00001}},
    {"v_div_fixup_f32 v6, v0, v1, v2", {k3, 0xbf800000, k3}, {0xc0400000}},
    // Integers.
    {"v_add_u32_e64 v6, v0, v1 clamp", {0xfffffff0, 0x20}, {0xffffffff}},
    {"v_sub_u32_e64 v6, v0, v1 clamp", {1, 2}, {0}},
    {"v_add_co_u32_e64 v6, vcc, v0, v1 clamp", {0xfffffff0, 0x20}, {0xffffffff}},
    {"v_sub_co_u32_e64 v6, vcc, v0, v1 clamp", {1, 2}, {0}},
    {"v_add_co_u32_e64 v6, vcc, v0, v1", {0xfffffff0, 0x20}, {0x10}},
    {"v_mul_hi_i32 v6, v0, v1", {0xffffffff, 2}, {0xffffffff}},
    {"v_mul_hi_u32 v6, v0, v1", {0xffffffff, 2}, {1}},
    {"v_mul_i32_i24 v6, v0, v1", {0x00ffffff, 2}, {0xfffffffe}},
    {"v_mad_u64_u32 v[6:7], vcc, v0, v1, v[2:3]", {0xffffffff, 0xffffffff, 1, 0}, {2, 0xfffffffe}},
    {"v_lshlrev_b64 v[6:7], v0, v[2:3]", {33, 0, 1, 0}, {0, 2}},
    {"v_ashrrev_i64 v[6:7], v0, v[2:3]", {36, 0, 0, 0x80000000}, {0xf8000000, 0xffffffff}},
    {"v_ashrrev_i32 v6, v0, v1", {36, 0x80000000}, {0xf8000000}},
    {"v_bfe_i32 v6, v0, v1, v2", {0x00000080, 4, 4}, {0xfffffff8}},
    {"v_bfe_u32 v6, v0, v1, v2", {0x00000080, 4, 4}, {8}},
    {"v_bfi_b32 v6, v0, v1, v2", {0xff, 0x12345678, 0xffffffff}, {0xffffff78}},
    {"v_alignbit_b32 v6, v0, v1, v2", {1, 0x80000000, 31}, {3}},
    {"v_perm_b32 v6, v0, v1, v2", {0x44332211, 0x88776655, 0x0c050083}, {0x002255ff}},
    {"v_ffbh_u32 v6, v0", {0}, {0xffffffff}},
    {"v_ffbh_i32 v6, v0", {0xffff0000}, {16}},
    {"v_ffbl_b32 v6, v0", {0x10}, {4}},
    {"v_bcnt_u32_b32 v6, v0, v1", {0xff, 3}, {11}},
    {"v_sad_u8 v6, v0, v1, v2", {0x01020304, 0x04030201, 1}, {9}},
    {"v_dot4_i32_i8 v6, v0, v1, v2", {0x01ff0203, 0x02020202, 1}, {11}},
    {"v_dot4_i32_i8 v6, v0, v1, v2 op_sel_hi:[1,1,0]", {0x01ff0203, 0x02020202, 1}, {11}},
    {"v_dot8_u32_u4 v6, v0, v1, v2 op_sel_hi:[1,1,0]", {0x10000003, 0x20000002, 1}, {9}},
    {"v_dot2c_i32_i16 v6, v0, v1", {0xffff0003, 0x00020004}, {10}},
    {"v_dot2_i32_i16 v6, v0, v1, v2 op_sel_hi:[0,0,1]", {0x00010003, 0x00010002, 1}, {13}},
    {"v_dot2_u32_u16 v6, v0, v1, v2 op_sel:[1,0,0] op_sel_hi:[1,1,1]", {0x00050003, 0x00010002, 1}, {16}},
    {"v_dot2_f32_f16 v6, v0, v1, v2 neg_lo:[1,0,0] neg_hi:[1,0,0]", {0x40003c00, 0x3c003c00, k3}, {0}},
    {"v_mov_b32 v6, 1.0", {}, {k1}},
    {"v_add_f64 v[6:7], v[0:1], 1.0", {0, 0x3ff00000}, {0, 0x40000000}},
    {"v_ceil_f64 v[6:7], 0x40090000", {}, {0, 0x40100000}},  // a literal is the high word
    {"v_fma_f64 v[6:7], v[0:1], v[0:1], -v[2:3]", {0, 0x40000000, 0, 0x3ff00000}, {0, 0x40080000}},
    {"v_min_f64 v[6:7], v[0:1], v[2:3]", {0, 0x7ff80000, 0, 0x3ff00000}, {0, 0x3ff00000}},
    // Halves and bytes.
    {"v_add_f16 v6, v0, v1", {0xffff3c00, 0xffff3c00}, {0x4000}},
    {"v_mad_u16 v6, v0, v1, v2", {0xffff0003, 5, 0xffff0007, 0, 0, 0, 0xabcd1234}, {0xabcd0016}},
    {"v_mad_legacy_u16 v6, v0, v1, v2", {0xffff0003, 5, 0xffff0007, 0, 0, 0, 0xabcd1234}, {0x16}},
    {"v_mad_legacy_i16 v6, v0, v1, v2", {0xffff, 3, 1, 0, 0, 0, 0xabcd1234}, {0xfffe}},
    {"v_mad_legacy_f16 v6, v0, v1, v2", {0xffff3c00, 0x4000, 0x3c00, 0, 0, 0, 0xabcd1234}, {0x4200}},
    {"v_fma_legacy_f16 v6, v0, v1, v2", {0xffff3c01, 0x3c01, 0xbc02}, {0x0010}},  // one rounding
    {"v_mad_legacy_f16 v6, v0, v1, v2", {0xffff3c01, 0x3c01, 0xbc02}, {0}},       // two
    {"v_div_fixup_legacy_f16 v6, v0, v1, v2", {0x3c00, 0, 0x3c00}, {0x7c00}},
    {"v_mad_legacy_f32 v6, v0, v1, v2", {0, kInf, k1}, {k1}},
    {"v_pk_add_f16 v6, v0, v1", {0x40003c00, 0x40003c00}, {0x44004000}},
    {"v_pk_add_f16 v6, v0, v1 op_sel:[1,0] op_sel_hi:[0,1]", {0x40003c00, 0x40003c00}, {0x42004200}},
    {"v_pk_mul_lo_u16 v6, v0, v1", {0x00020003, 0x00040005}, {0x0008000f}},
    {"v_pk_add_f32 v[6:7], v[0:1], v[2:3]", {k1, k2, k1, k1}, {k2, k3}},
    {"v_pk_fma_f32 v[6:7], v[0:1], v[2:3], v[4:5] op_sel_hi:[0,1,1]", {k2, k3, k1, k2, 0, k1}, {k2, 0x40a00000}},
    {"v_pk_mov_b32 v[6:7], v[0:1], v[2:3] op_sel:[1,0]", {1, 2, 3, 4}, {2, 3}},
    {"v_fma_mix_f32 v6, v0, v1, v2 op_sel_hi:[1,0,0]", {0x3c004000, k3, k1}, {0x40e00000}},
    {"v_fma_mix_f32 v6, v0, v1, v2 op_sel:[1,0,0] op_sel_hi:[1,0,0]", {0x3c004000, k3, k1}, {0x40800000}},
    {"v_add_u32_sdwa v6, v0, v1 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:BYTE_1 src1_sel:WORD_1",
     {0x00001200, 0x00340000}, {0x46}},
    {"v_mov_b32_sdwa v6, v0 dst_sel:WORD_1 dst_unused:UNUSED_PAD src0_sel:BYTE_0", {0x12345678}, {0x00780000}},
    {"v_mov_b32_sdwa v6, sext(v0) dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:BYTE_0", {0x80}, {0xffffff80}},
    {"v_pack_b32_f16 v6, v0, v1", {0x3c00, 0x4000}, {0x40003c00}},
    {"v_pack_b32_f16 v6, v0, v1 op_sel:[1,0,0]", {0x42003c00, 0x4000}, {0x40004200}},
    {"v_cvt_f32_f16_sdwa v6, v0 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:WORD_1", {0x42000000}, {k3}},
    // Scalars.
    {"s_wakeup", {}, {}},
    {"s_add_u32 s6, s0, s1", {0xffffffff, 1}, {0}, kUsualMode, 1},
    {"s_add_i32 s6, s0, s1", {0x7fffffff, 1}, {0x80000000}, kUsualMode, 1},
    {"s_sub_u32 s6, s0, s1", {1, 2}, {0xffffffff}, kUsualMode, 1},
    {"s_mul_hi_u32 s6, s0, s1", {0x80000000, 4}, {2}},
    {"s_lshl_b64 s[6:7], s[0:1], s2", {1, 0, 33}, {0, 2}, kUsualMode, 1},
    {"s_bfe_u32 s6, s0, 0x80008", {0x12345678}, {0x56}, kUsualMode, 1},
    {"s_bfe_i32 s6, s0, 0x80000", {0x80}, {0xffffff80}, kUsualMode, 1},
    {"s_movk_i32 s6, 0x8000", {}, {0xffff8000}},
    {"s_flbit_i32_b32 s6, s0", {1}, {31}},
    {"s_ff1_i32_b64 s6, s[0:1]", {0, 4}, {34}},
    {"s_bcnt1_i32_b64 s6, s[0:1]", {3, 0x80000000}, {3}, kUsualMode, 1},
    {"s_brev_b32 s6, s0", {1}, {0x80000000}},
    {"s_cmp_lt_i32 s0, s1", {0xffffffff, 0}, {}, kUsualMode, 1},
    {"s_cmp_lt_u32 s0, s1", {0xffffffff, 0}, {}, kUsualMode, 0},
    {"s_cmpk_eq_i32 s0, 0xffff", {0xffffffff}, {}, kUsualMode, 1},
    {"s_mov_b64 s[6:7], 1.0", {}, {0, 0x3ff00000}},
    {"s_mov_b64 s[6:7], -1", {}, {0xffffffff, 0xffffffff}},
    {"s_getreg_b32 s6, hwreg(HW_REG_MODE, 4, 4)", {}, {0xf}},
    {"s_pack_ll_b32_b16 s6, s0, s1", {0x11112222, 0x33334444}, {0x44442222}},
    {"s_lshl2_add_u32 s6, s0, s1", {3, 5}, {17}, kUsualMode, 0},
    {"s_abs_i32 s6, s0", {0xfffffffb}, {5}, kUsualMode, 1},
};

// What gfx940 has and gfx90a has not.
inline const std::vector<Case> kGfx940Cases = {
    {"v_mov_b64 v[6:7], v[0:1]", {1, 2}, {1, 2}},
    {"v_lshl_add_u64 v[6:7], v[0:1], 3, v[2:3]", {0x80000000, 1, 5, 0}, {5, 12}},
    {"v_pk_mul_f32 v[6:7], v[0:1], v[2:3]", {k1, k2, k2, k2}, {k2, 0x40800000}},
    {"v_fmamk_f32 v6, v0, 0x40000000, v1", {k3, k1}, {0x40e00000}},
    {"v_xor_b32 v6, v0, v1", {5, 3}, {6}},
};

// What gfx1100 has and gfx90a has not, or spells differently, or does differently; waves of 32 and of 64 lanes.
inline const std::vector<Case> kGfx1100Cases = {
    {"v_add_nc_u32 v6, v0, v1", {0xffffffff, 3}, {2}},
    {"v_sub_nc_u32 v6, v0, v1", {1, 2}, {0xffffffff}},
    {"v_subrev_nc_u32 v6, v0, v1", {1, 2}, {1}},
    {"v_add_nc_u32_e64 v6, v0, v1 clamp", {0xfffffff0, 0x20}, {0xffffffff}},
    {"v_add_nc_i32 v6, v0, v1 clamp", {0x7fffffff, 1}, {0x7fffffff}},
    {"v_xor3_b32 v6, v0, v1, v2", {1, 2, 4}, {7}},
    {"v_ctz_i32_b32 v6, v0", {0x10}, {4}},
    {"v_clz_i32_u32 v6, v0", {0x10}, {27}},
    {"v_cls_i32 v6, v0", {0xffff0000}, {16}},
    {"v_cvt_floor_i32_f32 v6, v0", {0xbf000000}, {0xffffffff}},
    {"v_cvt_nearest_i32_f32 v6, v0", {0x3f000000}, {1}},
    {"v_cvt_pk_rtz_f16_f32 v6, v0, v1", {0x3f801fff, 0x477fffff}, {0x7bff3c00}},
    {"v_cvt_pk_i16_f32 v6, v0, v1", {k3, 0xc7800000}, {0x80000003}},
    {"v_cvt_pk_u16_f32 v6, v0, v1", {k3, 0xc7800000}, {0x00000003}},
    {"v_mul_dx9_zero_f32 v6, v0, v1", {0, kInf}, {0}},
    {"v_fma_dx9_zero_f32 v6, v0, v1, v2", {0, kInf, k3}, {k3}},
    {"v_fmac_dx9_zero_f32 v6, v0, v1", {0, kInf, 0, 0, 0, 0, k3}, {k3}},
    {"v_minmax_f32 v6, v0, v1, v2", {k1, k3, k5}, {k5}},
    {"v_maxmin_f32 v6, v0, v1, v2", {k1, k3, k5}, {k3}},
    {"v_minmax_u32 v6, v0, v1, v2", {1, 3, 5}, {5}},
    {"v_maxmin_u32 v6, v0, v1, v2", {1, 3, 5}, {3}},
    {"v_minmax_i32 v6, v0, v1, v2", {0xffffffff, 3, 5}, {5}},
    {"v_maxmin_i32 v6, v0, v1, v2", {0xffffffff, 3, 0xfffffffe}, {0xfffffffe}},
    {"v_minmax_f16 v6, v0, v1, v2", {0x3c00, 0x4200, 0x4500, 0, 0, 0, 0xabcd0000}, {0xabcd4500}},
    {"v_mad_u64_u32 v[6:7], null, v0, v1, v[2:3]", {0xffffffff, 0xffffffff, 1, 0}, {2, 0xfffffffe}},
    {"v_min_f32 v6, v0, v1", {kSignalling, k2}, {0x7fc00001}},
    {"v_ldexp_f32 v6, v0, v1", {k3, 0xffffffff}, {0x3fc00000}},
    {"v_fmaak_f32 v6, v0, v1, 0x40000000", {k3, k1}, {0x40a00000}},
    // Results of 16 bits leave the other half of a register.
    {"v_add_f16 v6, v0, v1", {0xffff3c00, 0xffff3c00, 0, 0, 0, 0, 0xabcd1234}, {0xabcd4000}},
    {"v_add_nc_u16 v6, v0, v1", {0xffff, 3, 0, 0, 0, 0, 0xabcd1234}, {0xabcd0002}},
    {"v_add_nc_u16 v6, v0, v1 op_sel:[1,0,1]", {0x00050000, 3, 0, 0, 0, 0, 0xabcd1234}, {0x00081234}},
    {"v_fmac_f16 v6, v0, v1", {0x4000, 0x4200, 0, 0, 0, 0, 0xabcd3c00}, {0xabcd4700}},
    {"v_fmaak_f16 v6, v0, v1, 0x4000", {0x4200, 0x3c00, 0, 0, 0, 0, 0xabcd0000}, {0xabcd4500}},
    {"v_cvt_f16_f32 v6, v0", {k1, 0, 0, 0, 0, 0, 0xabcd0000}, {0xabcd3c00}},
    {"v_and_b16 v6, v0, v1", {0xff, 0x0f3c, 0, 0, 0, 0, 0xabcd0000}, {0xabcd003c}},
    {"v_not_b16 v6, v0", {0xff, 0, 0, 0, 0, 0, 0xabcd0000}, {0xabcdff00}},
    {"v_cndmask_b16 v6, v0, v1, s4", {0x1111, 0x2222, 0, 0, ~0U, 0, 0xabcd0000}, {0xabcd2222}, kUsualMode, -1, 32},
    {"v_cndmask_b16 v6, v0, v1, s4", {0x1111, 0x2222, 0, 0, 0, 0, 0xabcd0000}, {0xabcd1111}, kUsualMode, -1, 32},
    {"v_cvt_i32_i16 v6, v0", {0x12348000}, {0xffff8000}},
    {"v_cvt_u32_u16 v6, v0", {0x12348000}, {0x8000}},
    {"v_maxmin_f16 v6, v0, v1, v2", {0x3c00, 0x4200, 0x4500, 0, 0, 0, 0xabcd0000}, {0xabcd4200}},
    {"v_dot2acc_f32_f16 v6, v0, v1", {0x40003c00, 0x3c004000, 0, 0, 0, 0, k1}, {0x40a00000}},
    {"v_pk_add_f16 v6, v0, v1", {0x40003c00, 0x40003c00}, {0x44004000}},
    {"v_dot4_i32_iu8 v6, v0, v1, v2 neg_lo:[1,0,0]", {0x01ff0203, 0x02ff0202, 1}, {0xffffff0e}},
    {"v_dot4_i32_iu8 v6, v0, v1, v2", {0x01ff0203, 0x02020202, 1}, {0x20b}},
    {"v_dot8_i32_iu4 v6, v0, v1, v2 neg_lo:[1,1,0]", {0xf, 0xf, 1}, {2}},
    {"v_permlane64_b32 v6, v0", {5, 0, 0, 0, 0, 0, 7}, {5}, kUsualMode, -1, 64},
    {"v_permlane64_b32 v6, v0", {5, 0, 0, 0, 0, 0, 7}, {7}, kUsualMode, -1, 32},
    // Both halves of a pair read before either writes.
    {"v_dual_add_f32 v6, v0, v7 :: v_dual_mov_b32 v7, v6", {k1, 0, 0, 0, 0, 0, k3, k2}, {k3, k3}, kUsualMode, -1, 32},
    {"v_dual_mov_b32 v6, v7 :: v_dual_mov_b32 v7, v6", {0, 0, 0, 0, 0, 0, 1, 2}, {2, 1}, kUsualMode, -1, 32},
    {"v_dual_fmac_f32 v6, v0, v7 :: v_dual_add_f32 v7, v6, v6",
     {k2, 0, 0, 0, 0, 0, k1, k2}, {0x40a00000, k2}, kUsualMode, -1, 32},
    {"v_dual_fmaak_f32 v6, v0, v1, 0x40000000 :: v_dual_mov_b32 v7, v3",
     {k3, k1, 0, 9}, {0x40a00000, 9}, kUsualMode, -1, 32},
    {"v_dual_mov_b32 v7, 0 :: v_dual_add_nc_u32 v6, v0, v1", {3, 4, 0, 0, 0, 0, 0, 9}, {7, 0}, kUsualMode, -1, 32},
    // Scalars.
    {"s_and_not1_b32 s6, s0, s1", {7, 2}, {5}, kUsualMode, 1},
    {"s_or_not1_b64 s[6:7], s[0:1], s[2:3]", {0, 0, 0xffffffff, 1}, {0, 0xfffffffe}, kUsualMode, 1},
    {"s_ctz_i32_b32 s6, s0", {0x10}, {4}},
    {"s_clz_i32_u32 s6, s0", {0x10}, {27}},
    {"s_cls_i32 s6, s0", {0xffff0000}, {16}},
    {"s_pack_hl_b32_b16 s6, s0, s1", {0x11112222, 0x33334444}, {0x44441111}},
    {"s_add_i32 s6, null, s1", {1, 5}, {5}, kUsualMode, 0},
    {"s_cmpk_eq_i32 null, 0x0", {1}, {}, kUsualMode, 1},
    {"s_cmp_lt_u32 null, s0", {1}, {}, kUsualMode, 1},
    {"s_delay_alu instid0(VALU_DEP_1) | instskip(NEXT) | instid1(VALU_DEP_2)", {}, {}},
    {"s_waitcnt_vscnt null, 0x0", {}, {}},
    {"s_clause 0x3", {}, {}},
};
// clang-format on

}  // namespace tf::amd::isa
