// SPDX-License-Identifier: Apache-2.0
// Single instructions: assembled by clang, executed on registers that the test fills, against expected
// bits.
#include <gtest/gtest.h>
#include <immintrin.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "tests/amd/isa/code_object.h"
#include "tests/amd/isa/decode.h"
#include "tests/amd/isa/half.h"
#include "tests/amd/isa/instruction_cases.h"
#include "tests/amd/isa/kernels_path.h"
#include "tests/amd/isa/wave.h"

namespace tf::amd::isa {
namespace {

// All cases in one run of the assembler: one line of output has the bytes of one instruction.
std::vector<std::vector<std::uint8_t>> assemble(const std::vector<std::string>& lines, const char* processor,
                                                int lanes) {
  char input[] = "/tmp/amd_isa_XXXXXX";
  const int file = mkstemp(input);
  if (file < 0) return {};
  std::FILE* to = fdopen(file, "w");
  for (const std::string& line : lines) std::fprintf(to, "%s\n", line.c_str());
  std::fclose(to);
  const bool rdna = std::strcmp(processor, "gfx1100") == 0;
  const std::string command = std::string(kAssembler) + " -cc1as -triple amdgcn-amd-amdhsa -target-cpu " +
                              processor + (rdna && lanes == 64 ? " -target-feature +wavefrontsize64" : "") +
                              " -filetype asm -show-encoding -o - " + input + " 2>&1";
  std::FILE* from = popen(command.c_str(), "r");
  std::vector<std::vector<std::uint8_t>> result;
  char text[1024];
  while (from != nullptr && std::fgets(text, sizeof text, from) != nullptr) {
    if (std::strstr(text, "error:") != nullptr) ADD_FAILURE() << text;
    const char* at = std::strstr(text, "encoding: [");
    if (at == nullptr) continue;
    std::vector<std::uint8_t> bytes;
    for (at += 10; *at != ']' && *at != '\0'; at += 5) {
      bytes.push_back(static_cast<std::uint8_t>(std::strtoul(at + 1, nullptr, 16)));
      if (at[5] == ']') break;
    }
    result.push_back(std::move(bytes));
  }
  if (from != nullptr) static_cast<void>(pclose(from));
  std::remove(input);
  return result;
}

// A wave and its work-group, with 64 KiB of LDS.
class Machine {
 public:
  explicit Machine(const char* processor = "gfx90a", int lanes = 64)
      : view_(memory_), registers_(kWaveRows), data_(1024), code_(code_of(processor, lanes)) {
    memory_.add(data_.data(), data_.size() * 4);
    group_.local = std::make_unique<std::uint8_t[]>(kGroupSegmentBytesMax);
    group_.local_bytes = kGroupSegmentBytesMax;
    wave_.v = registers_.data();
    wave_.memory = &view_;
    wave_.group = &group_;
    wave_.processor = &code_.processor();
    if (lanes == 32) wave_.lane_mask = 0xffffffff;
    wave_.set_pair(kExecLo, ~std::uint64_t{0});
    set_mode(0x3f0);  // all denormals, DX10_CLAMP and IEEE
  }
  ~Machine() { _mm_setcsr(host_control_); }
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;

  void set_mode(std::uint32_t bits) {
    wave_.mode.set(bits);
    wave_.control_now = 0;
  }
  // v0, v1 ... in all lanes.
  void vectors(const std::vector<std::uint32_t>& values) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      for (std::uint32_t& lane : registers_[i].lane) lane = values[i];
    }
  }
  // Throws Stop.
  void execute(const std::vector<std::uint8_t>& bytes) {
    code_bytes_.assign(bytes.begin(), bytes.end());
    code_bytes_.resize(bytes.size() + 16);
    memory_.add(code_bytes_.data(), bytes.size());
    unsigned length = 0;
    Stop why{};
    const auto in =
        code_.decode_alone(reinterpret_cast<std::uint64_t>(code_bytes_.data()), view_, length, why);
    memory_.remove(code_bytes_.data());
    if (in.empty()) throw why;
    for (const Instruction& each : in) each.handler(wave_, each);
    _mm_setcsr(host_control_);
    wave_.control_now = 0;
  }
  static Code& code_of(const char* processor, int lanes) {
    static std::map<std::pair<std::string, int>, std::unique_ptr<Code>> all;
    std::unique_ptr<Code>& code = all[{processor, lanes}];
    if (code == nullptr) code = std::make_unique<Code>(*find_processor(processor), lanes);
    return *code;
  }

  Wave wave_;
  TestMemory memory_;
  MemoryView view_;
  std::vector<Row> registers_;
  std::vector<std::uint32_t> data_;

 private:
  Code& code_;
  WorkGroup group_;
  std::vector<std::uint8_t> code_bytes_;
  const unsigned host_control_ = _mm_getcsr();
};

class Instructions : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(Machine::code_of("gfx90a", 64).problem(), ""); }
};

// Inputs in v0 to v5 (of VALU) or s0 to s5 (of SALU); results in v6, v7 or s6, s7.
void expect_bits(std::vector<Case> cases, const char* processor, int lanes) {
  std::erase_if(cases, [&](const Case& each) { return each.lanes != 0 && each.lanes != lanes; });
  std::vector<std::string> lines;
  for (const Case& each : cases) lines.emplace_back(each.text);
  const auto code = assemble(lines, processor, lanes);
  ASSERT_EQ(code.size(), lines.size());
  for (std::size_t i = 0; i < code.size(); ++i) {
    const Case& each = cases[i];
    Machine machine(processor, lanes);
    machine.set_mode(each.mode);
    machine.vectors(each.in);
    for (std::size_t k = 0; k < each.in.size(); ++k) machine.wave_.s[k] = each.in[k];
    try {
      machine.execute(code[i]);
    } catch (const Stop& stop) {
      ADD_FAILURE() << each.text << ": " << stop.text;
      continue;
    }
    for (std::size_t k = 0; k < each.out.size(); ++k) {
      const bool scalar = each.text[0] == 's';
      const std::uint32_t got = scalar ? machine.wave_.s[6 + k] : machine.registers_[6 + k].lane[lanes - 1];
      char text[200];
      std::snprintf(text, sizeof text, "%s: 0x%08x, expected 0x%08x (word %zu)", each.text, got, each.out[k],
                    k);
      EXPECT_EQ(got, each.out[k]) << text;
      if (!scalar) {
        EXPECT_EQ(machine.registers_[6 + k].lane[0], got) << text;
      }
    }
    if (each.scc >= 0) {
      EXPECT_EQ(machine.wave_.scc, each.scc == 1) << each.text;
    }
  }
}

bool known(const char* processor) {
  for (const KernelFile& each : kKernelFiles) {
    if (std::strcmp(each.processor, processor) == 0) return true;
  }
  return false;
}

TEST_F(Instructions, GiveTheExpectedBits) { expect_bits(kCases, "gfx90a", 64); }

TEST_F(Instructions, OfGfx940GiveTheExpectedBits) {
  if (!known("gfx940")) GTEST_SKIP() << "no clang 15";
  expect_bits(kGfx940Cases, "gfx940", 64);
}

TEST_F(Instructions, OfGfx1100GiveTheExpectedBits) {
  if (!known("gfx1100")) GTEST_SKIP() << "no clang 15";
  expect_bits(kGfx1100Cases, "gfx1100", 32);
  expect_bits(kGfx1100Cases, "gfx1100", 64);
}

// One instruction, assembled alone.
std::vector<std::uint8_t> one(const char* text, const char* processor = "gfx90a", int lanes = 64) {
  const auto code = assemble({text}, processor, lanes);
  return code.empty() ? std::vector<std::uint8_t>{} : code[0];
}

TEST_F(Instructions, LanesThatTakeNoPartStayAsTheyWere) {
  Machine machine;
  machine.vectors({5, 7, 0, 0, 0, 0, 99});
  machine.wave_.set_pair(kExecLo, 0xf0);
  machine.execute(one("v_add_u32 v6, v0, v1"));
  for (int i = 0; i < kLanes; ++i) EXPECT_EQ(machine.registers_[6].lane[i], i >= 4 && i < 8 ? 12U : 99U) << i;
}

TEST_F(Instructions, ComparisonsGiveABitOfEachLane) {
  Machine machine;
  for (std::uint32_t i = 0; i < kLanes; ++i) machine.registers_[0].lane[i] = i;
  machine.wave_.set_pair(kExecLo, 0xffffffff00ffffff);
  machine.execute(one("v_cmp_gt_u32 vcc, 30, v0"));
  EXPECT_EQ(machine.wave_.pair(kVccLo), 0x00ffffffU);
  machine.execute(one("v_cmpx_lt_u32 vcc, 40, v0"));
  EXPECT_EQ(machine.wave_.exec(), 0xfffffe0000000000U);
}

TEST_F(Instructions, CarriesGoFromLaneToLanesBit) {
  Machine machine;
  machine.vectors({0xffffffff, 1});
  machine.registers_[0].lane[5] = 3;
  machine.execute(one("v_add_co_u32 v6, vcc, v0, v1"));
  EXPECT_EQ(machine.wave_.pair(kVccLo), ~std::uint64_t{0x20});
  machine.execute(one("v_addc_co_u32 v7, vcc, v1, v1, vcc"));
  EXPECT_EQ(machine.registers_[7].lane[4], 3U);
  EXPECT_EQ(machine.registers_[7].lane[5], 2U);
}

TEST_F(Instructions, DataParallelSources) {
  struct Dpp {
    const char* text;
    int lane;
    std::uint32_t expected;  // of sources 100 + lane; 7: not written
  };
  const Dpp cases[] = {
      {"v_mov_b32_dpp v6, v0 quad_perm:[3,2,1,0] row_mask:0xf bank_mask:0xf", 8, 111},
      {"v_mov_b32_dpp v6, v0 row_shr:1 row_mask:0xf bank_mask:0xf", 17, 116},
      {"v_mov_b32_dpp v6, v0 row_shr:1 row_mask:0xf bank_mask:0xf", 16, 7},
      {"v_mov_b32_dpp v6, v0 row_shr:1 row_mask:0xf bank_mask:0xf bound_ctrl:0", 16, 0},
      {"v_mov_b32_dpp v6, v0 row_shl:2 row_mask:0xf bank_mask:0xf", 3, 105},
      {"v_mov_b32_dpp v6, v0 row_ror:4 row_mask:0xf bank_mask:0xf", 1, 113},
      {"v_mov_b32_dpp v6, v0 row_mirror row_mask:0xf bank_mask:0xf", 18, 129},
      {"v_mov_b32_dpp v6, v0 row_half_mirror row_mask:0xf bank_mask:0xf", 1, 106},
      {"v_mov_b32_dpp v6, v0 row_bcast:15 row_mask:0xa bank_mask:0xf", 20, 115},
      {"v_mov_b32_dpp v6, v0 row_bcast:15 row_mask:0xa bank_mask:0xf", 40, 7},
      {"v_mov_b32_dpp v6, v0 row_bcast:31 row_mask:0xc bank_mask:0xf", 50, 131},
      {"v_mov_b32_dpp v6, v0 wave_ror:1 row_mask:0xf bank_mask:0xf", 0, 163},
      {"v_mov_b32_dpp v6, v0 row_shl:1 row_mask:0xf bank_mask:0x1", 5, 7},
  };
  std::vector<std::string> lines;
  for (const Dpp& each : cases) lines.emplace_back(each.text);
  const auto code = assemble(lines, "gfx90a", 64);
  ASSERT_EQ(code.size(), lines.size());
  for (std::size_t i = 0; i < code.size(); ++i) {
    Machine machine;
    machine.vectors({0, 0, 0, 0, 0, 0, 7});
    for (std::uint32_t k = 0; k < kLanes; ++k) machine.registers_[0].lane[k] = 100 + k;
    machine.execute(code[i]);
    EXPECT_EQ(machine.registers_[6].lane[cases[i].lane], cases[i].expected) << cases[i].text;
  }
}

TEST_F(Instructions, BetweenLanes) {
  Machine machine;
  for (std::uint32_t k = 0; k < kLanes; ++k) {
    machine.registers_[0].lane[k] = 100 + k;
    machine.registers_[1].lane[k] = (63 - k) * 4;
  }
  machine.execute(one("ds_bpermute_b32 v6, v1, v0"));
  EXPECT_EQ(machine.registers_[6].lane[3], 160U);
  machine.execute(one("ds_permute_b32 v6, v1, v0"));
  EXPECT_EQ(machine.registers_[6].lane[3], 160U);
  machine.execute(one("ds_swizzle_b32 v6, v0 offset:swizzle(QUAD_PERM, 1, 0, 3, 2)"));
  EXPECT_EQ(machine.registers_[6].lane[6], 107U);
  machine.execute(one("ds_swizzle_b32 v6, v0 offset:0x401f"));  // xor 16
  EXPECT_EQ(machine.registers_[6].lane[40], 156U);
  machine.execute(one("v_readlane_b32 s6, v0, 7"));
  EXPECT_EQ(machine.wave_.s[6], 107U);
  machine.wave_.set_pair(kExecLo, 0x100);
  machine.execute(one("v_readfirstlane_b32 s6, v0"));
  EXPECT_EQ(machine.wave_.s[6], 108U);
  machine.execute(one("v_writelane_b32 v6, 5, 2"));
  EXPECT_EQ(machine.registers_[6].lane[2], 5U);
  machine.wave_.set_pair(kExecLo, ~std::uint64_t{0});
  machine.execute(one("v_mbcnt_lo_u32_b32 v6, -1, 0"));
  machine.execute(one("v_mbcnt_hi_u32_b32 v6, -1, v6"));
  for (std::uint32_t k = 0; k < kLanes; ++k) EXPECT_EQ(machine.registers_[6].lane[k], k);
}

TEST_F(Instructions, AtomicsOfLocalAndGlobalMemory) {
  Machine machine;
  machine.vectors({16, 3, 0, 0, 0, 0, 0, 0});
  machine.execute(one("ds_write_b32 v0, v1"));
  machine.execute(one("ds_add_rtn_u32 v6, v0, v1"));
  EXPECT_EQ(machine.registers_[6].lane[63], 3U * 64);
  machine.vectors({18});
  EXPECT_THROW(machine.execute(one("ds_add_u32 v0, v1")), Stop);  // misaligned
  const auto address = reinterpret_cast<std::uint64_t>(machine.data_.data());
  machine.vectors(
      {static_cast<std::uint32_t>(address), static_cast<std::uint32_t>(address >> 32), 0x3f800000});
  machine.execute(one("global_atomic_add_f32 v[0:1], v2, off offset:8"));
  EXPECT_EQ(machine.data_[2], 0x42800000U);  // 64.0
  machine.vectors({static_cast<std::uint32_t>(address), static_cast<std::uint32_t>(address >> 32), 9, 0});
  machine.execute(one("global_atomic_cmpswap v6, v[0:1], v[2:3], off glc"));
  EXPECT_EQ(machine.data_[0], 9U);
  EXPECT_EQ(machine.registers_[6].lane[0], 0U);
  EXPECT_EQ(machine.registers_[6].lane[1], 9U);
}

TEST_F(Instructions, LoadsOf16BitsWriteTheWholeRegister) {
  Machine machine;
  const auto address = reinterpret_cast<std::uint64_t>(machine.data_.data());
  machine.data_[0] = 0x8765fedc;
  machine.vectors(
      {static_cast<std::uint32_t>(address), static_cast<std::uint32_t>(address >> 32), 16, 0x8765fedc});
  machine.execute(one("ds_write_b32 v2, v3"));
  const std::pair<const char*, std::uint32_t> loads[] = {
      {"ds_read_u8_d16 v6, v2", 0xdc},
      {"ds_read_i8_d16_hi v6, v2", 0xffdc0000},
      {"ds_read_u16_d16_hi v6, v2 offset:2", 0x87650000},
      {"global_load_ubyte_d16_hi v6, v[0:1], off", 0xdc0000},
      {"global_load_sbyte_d16 v6, v[0:1], off offset:1", 0xfffe},
      {"global_load_short_d16 v6, v[0:1], off offset:2", 0x8765},
  };
  for (const auto& [text, loaded] : loads) {
    machine.registers_[6].lane[3] = 0x11223344;
    machine.execute(one(text));
    EXPECT_EQ(machine.registers_[6].lane[3], loaded) << text;
  }
}

TEST_F(Instructions, MatrixProducts) {
  // A[i][k] = i + 1 for k = 0, else 0; B[k][j] = j: D[i][j] = (i + 1) * j.
  Machine machine;
  for (int lane = 0; lane < kLanes; ++lane) {
    machine.registers_[0].lane[lane] =
        std::bit_cast<std::uint32_t>(lane < 16 ? static_cast<float>(lane + 1) : 0.0F);
    machine.registers_[1].lane[lane] = std::bit_cast<std::uint32_t>(static_cast<float>(lane % 16));
  }
  machine.execute(one("v_mfma_f32_16x16x4f32 a[0:3], v0, v1, 1.0"));
  for (int lane = 0; lane < kLanes; ++lane) {
    for (int r = 0; r < 4; ++r) {
      const float expected = static_cast<float>((4 * (lane / 16) + r + 1) * (lane % 16)) + 1.0F;
      EXPECT_EQ(std::bit_cast<float>(machine.registers_[256 + r].lane[lane]), expected) << lane << " " << r;
    }
  }
}

// Waves of 32 lanes: masks lie in one register, and the other half of a pair is a register like any other.
TEST_F(Instructions, WavesOf32Lanes) {
  if (!known("gfx1100")) GTEST_SKIP() << "no clang 15";
  Machine machine("gfx1100", 32);
  const auto run = [&](const char* text) { machine.execute(one(text, "gfx1100", 32)); };
  for (std::uint32_t i = 0; i < kLanes; ++i) machine.registers_[0].lane[i] = i;
  machine.wave_.s[kVccLo + 1] = 0x1234;
  run("v_cmp_gt_u32 vcc_lo, 30, v0");
  EXPECT_EQ(machine.wave_.s[kVccLo], 0x3fffffffU);
  EXPECT_EQ(machine.wave_.s[kVccLo + 1], 0x1234U);
  EXPECT_EQ(machine.wave_.vcc(), 0x3fffffffU);
  run("v_cmpx_lt_u32 20, v0");
  EXPECT_EQ(machine.wave_.exec(), 0xffe00000U);
  EXPECT_EQ(machine.wave_.s[kVccLo], 0x3fffffffU);  // is not written
  run("v_mov_b32 v6, 7");
  EXPECT_EQ(machine.registers_[6].lane[20], 0U);
  EXPECT_EQ(machine.registers_[6].lane[21], 7U);
  EXPECT_EQ(machine.registers_[6].lane[40], 0U);
  run("s_mov_b32 s4, 0xff");
  run("s_and_saveexec_b32 s6, s4");
  EXPECT_EQ(machine.wave_.s[6], 0xffe00000U);
  EXPECT_EQ(machine.wave_.exec(), 0U);
  EXPECT_FALSE(machine.wave_.scc);
  run("s_or_not1_saveexec_b32 s6, s4");
  EXPECT_EQ(machine.wave_.exec(), 0xffffffffU);
  run("v_add_co_u32 v6, s8, v0, -1");
  EXPECT_EQ(machine.wave_.s[8], 0xfffffffeU);
  run("v_add_co_ci_u32 v6, vcc_lo, 0, 0, s8");
  EXPECT_EQ(machine.registers_[6].lane[0], 0U);
  EXPECT_EQ(machine.registers_[6].lane[1], 1U);
  run("v_readlane_b32 s6, v0, 33");
  EXPECT_EQ(machine.wave_.s[6], 1U);
}

TEST_F(Instructions, BetweenLanesOfGfx1100) {
  if (!known("gfx1100")) GTEST_SKIP() << "no clang 15";
  struct Move {
    const char* text;
    int lane;
    std::uint32_t expected;  // of sources 100 + lane; 7: not written
  };
  const Move cases[] = {
      {"v_mov_b32_dpp v6, v0 dpp8:[7,6,5,4,3,2,1,0]", 9, 114},
      {"v_mov_b32_dpp v6, v0 row_share:3 row_mask:0xf bank_mask:0xf", 20, 119},
      {"v_mov_b32_dpp v6, v0 row_xmask:5 row_mask:0xf bank_mask:0xf", 18, 123},
      {"v_add_nc_u32_dpp v6, v0, v1 row_ror:4 row_mask:0xf bank_mask:0xf", 1, 113},
      {"v_permlane16_b32 v6, v0, s0, s1", 17, 122},   // 6 of its row
      {"v_permlanex16_b32 v6, v0, s0, s1", 17, 106},  // 6 of the other one
      {"v_permlane16_b32 v6, v0, s0, s1", 16, 7},     // lane 31 takes no part
      {"v_permlane16_b32 v6, v0, s0, s1 op_sel:[1,0]", 16, 131},
      {"v_permlane16_b32 v6, v0, s0, s1 op_sel:[0,1]", 16, 0},
      {"v_mov_b32_dpp v6, v0 row_shr:1 row_mask:0xf bank_mask:0xf bound_ctrl:1", 16, 0},
  };
  for (const int lanes : {32, 64}) {
    for (const Move& each : cases) {
      Machine machine("gfx1100", lanes);
      machine.vectors({0, 0, 0, 0, 0, 0, 7});
      machine.wave_.s[0] = 0x6f;  // lane 0 of a row reads 15, lane 1 reads 6
      for (std::uint32_t k = 0; k < kLanes; ++k) machine.registers_[0].lane[k] = 100 + k;
      machine.wave_.set_pair(kExecLo, 0xffffffff7fffffff);
      machine.execute(one(each.text, "gfx1100", lanes));
      EXPECT_EQ(machine.registers_[6].lane[each.lane], each.expected) << each.text << " of " << lanes;
    }
    // Of 64 lanes, each half by itself.
    Machine machine("gfx1100", lanes);
    for (std::uint32_t k = 0; k < kLanes; ++k) {
      machine.registers_[0].lane[k] = 100 + k;
      machine.registers_[1].lane[k] = (63 - k) * 4;
    }
    machine.execute(one("ds_bpermute_b32 v6, v1, v0", "gfx1100", lanes));
    EXPECT_EQ(machine.registers_[6].lane[3], 128U);
    EXPECT_EQ(machine.registers_[6].lane[35], lanes == 64 ? 160U : 0U);
    machine.execute(one("v_permlane64_b32 v7, v0", "gfx1100", lanes));
    EXPECT_EQ(machine.registers_[7].lane[3], lanes == 64 ? 135U : 0U);
  }
}

TEST_F(Instructions, AtomicsOfGfx1100AndGfx940) {
  if (!known("gfx1100")) GTEST_SKIP() << "no clang 15";
  Machine machine("gfx1100", 32);
  machine.vectors({16, 9, 0});
  machine.execute(one("ds_store_b32 v0, v2", "gfx1100", 32));
  machine.execute(one("ds_cmpstore_rtn_b32 v6, v0, v1, v2", "gfx1100", 32));  // 9 where there is 0
  EXPECT_EQ(machine.registers_[6].lane[0], 0U);
  EXPECT_EQ(machine.registers_[6].lane[1], 9U);
  const auto address = reinterpret_cast<std::uint64_t>(machine.data_.data());
  const std::vector<std::uint32_t> arguments = {static_cast<std::uint32_t>(address),
                                                static_cast<std::uint32_t>(address >> 32), 1, 0};
  machine.vectors(arguments);
  machine.execute(one("global_atomic_add_u32 v6, v[0:1], v2, off glc", "gfx1100", 32));
  EXPECT_EQ(machine.data_[0], 32U);
  EXPECT_EQ(machine.registers_[6].lane[31], 31U);
  Machine other("gfx940", 64);
  other.memory_.add(machine.data_.data(), 4096);
  other.vectors(arguments);
  other.execute(one("global_atomic_add v6, v[0:1], v2, off sc0", "gfx940", 64));
  EXPECT_EQ(machine.data_[0], 96U);
  EXPECT_EQ(other.registers_[6].lane[63], 95U);
  other.execute(one("global_load_dword v7, v[0:1], off sc0 sc1 nt", "gfx940", 64));
  EXPECT_EQ(other.registers_[7].lane[5], 96U);
}

// A[i][k] = i + 1 for k = 0, else 0; B[k][j] = j: D[i][j] = (i + 1) * j + 1.
TEST_F(Instructions, MatrixProductsOfGfx1100) {
  if (!known("gfx1100")) GTEST_SKIP() << "no clang 15";
  for (const int lanes : {32, 64}) {
    Machine machine("gfx1100", lanes);
    for (int lane = 0; lane < lanes; ++lane) {
      machine.registers_[8].lane[lane] = float_to_half(static_cast<float>(lane % 16 + 1));
      machine.registers_[16].lane[lane] = float_to_half(static_cast<float>(lane % 16)) * 0x10001;
    }
    const char* text = lanes == 32 ? "v_wmma_f32_16x16x16_f16 v[24:31], v[8:15], v[16:23], 1.0"
                                   : "v_wmma_f32_16x16x16_f16 v[24:27], v[8:15], v[16:23], 1.0";
    machine.execute(one(text, "gfx1100", lanes));
    for (int r = 0; r < 256 / lanes; ++r) {
      for (int lane = 0; lane < lanes; ++lane) {
        const float expected = static_cast<float>((r * (lanes / 16) + lane / 16 + 1) * (lane % 16)) + 1.0F;
        EXPECT_EQ(std::bit_cast<float>(machine.registers_[24 + r].lane[lane]), expected) << lane << " " << r;
      }
    }
  }
  Machine machine("gfx1100", 32);
  machine.registers_[8].lane[3] = 0x000000ff;   // A[3][0] = -1, or 255
  machine.registers_[16].lane[5] = 0x00000002;  // B[0][5] = 2
  const auto code = [](const char* text) { return one(text, "gfx1100", 32); };
  machine.execute(code("v_wmma_i32_16x16x16_iu8 v[24:31], v[8:11], v[16:19], 1 neg_lo:[1,0,0]"));
  EXPECT_EQ(machine.registers_[25].lane[21], 0xffffffffU);  // row 3, column 5
  EXPECT_EQ(machine.registers_[25].lane[20], 1U);
  machine.execute(code("v_wmma_i32_16x16x16_iu8 v[24:31], v[8:11], v[16:19], 1"));
  EXPECT_EQ(machine.registers_[25].lane[21], 511U);
}

TEST_F(Instructions, MatrixProductsOfGfx940) {
  if (!known("gfx940")) GTEST_SKIP() << "no clang 15";
  Machine machine("gfx940", 64);
  for (int lane = 0; lane < kLanes; ++lane) {
    machine.registers_[0].lane[lane] =
        std::bit_cast<std::uint32_t>(lane < 16 ? static_cast<float>(lane + 1) : 0.0F);
    machine.registers_[1].lane[lane] = std::bit_cast<std::uint32_t>(static_cast<float>(lane % 16));
  }
  machine.execute(one("v_mfma_f32_16x16x4_f32 a[0:3], v0, v1, 1.0", "gfx940", 64));
  EXPECT_EQ(std::bit_cast<float>(machine.registers_[256 + 2].lane[21]), 7.0F * 5.0F + 1.0F);
}

// Each name that a processor has for a row leads to one.
TEST_F(Instructions, NamesOfEachProcessorHaveRows) {
  for (const char* processor : {"gfx90a", "gfx940", "gfx942", "gfx1100"}) {
    const Processor* found = find_processor(processor);
    ASSERT_NE(found, nullptr) << processor;
    const Names names(*found);
    for (const Renamed& each : found->names) {
      EXPECT_NE(names.find(std::string(each.name)), nullptr) << processor << " " << each.name;
    }
    for (const Renamed& each : found->memory_names) {
      EXPECT_NE(names.find("global_" + std::string(each.name)), nullptr) << processor << " " << each.name;
    }
  }
  EXPECT_EQ(find_processor("gfx1234"), nullptr);
}

TEST_F(Instructions, UnknownBytesAreNamed) {
  Machine machine;
  try {
    machine.execute({0xff, 0xff, 0xff, 0xff});
    FAIL();
  } catch (const Stop& stop) {
    EXPECT_EQ(stop.kind, FailureKind::kUnknownInstruction);
  }
  try {
    machine.execute(one("image_load v[0:3], v0, s[0:7] dmask:0xf unorm"));
    FAIL();
  } catch (const Stop& stop) {
    EXPECT_NE(stop.text.find("image_load"), std::string::npos) << stop.text;
  }
}

}  // namespace
}  // namespace tf::amd::isa
