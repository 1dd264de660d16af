// SPDX-License-Identifier: Apache-2.0
// A decoded instruction, and a row of the table that says what a mnemonic does.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

namespace tf::amd::isa {

struct Wave;
struct Instruction;
using Handler = void (*)(Wave&, const Instruction&);

constexpr int kLanes = 64;

// One 32-bit register of all lanes of a wave.
struct alignas(64) Row {
  std::uint32_t lane[kLanes];
};

// What an operand holds. It decides what an inline constant or a literal means, and where a float's sign is
// [CDNA2 chapter 3.5 "Scalar Operands", chapter 6.2 "Operands"].
enum class Type : std::uint8_t {
  kNone,
  kU32,     // 32 bits, integer or float: constants mean the same
  kF32,     // 32 bits with neg, abs, clamp, omod
  kU64,     // a literal is extended with zeros
  kI64,     // a literal is extended with its sign
  kF64,     // a literal is the high half
  kU16,     // the low half of a register, or the high one by op_sel
  kF16,     // as kU16, with neg, abs, clamp, omod
  kPacked,  // two halves (VOP3P)
  kPair,    // two F32 in two registers (VOP3P)
  kMask,    // one bit for each lane, in two scalar registers
  kAny,     // registers, of as many words as the text says, a constant of 32 bits, or off
  kLiteral  // a number that is no operand: the target of a branch, the bits of s_movk
};

struct Operand {
  enum class Kind : std::uint8_t {
    kNone,
    kVector,
    kScalar,
    kConstant,
    kOff,
    kNull,
    kScc,
    kVccz,
    kExecz,
    kHwreg
  };
  Kind kind = Kind::kNone;
  std::uint8_t count = 1;    // registers
  bool modified = false;     // a vector source that is not read as it stands
  bool sign_extend = false;  // SDWA sext()
  bool dpp = false;          // read from other lanes
  bool high_half = false;    // "v7.h"
  bool half = false;         // that, or "v7.l"
  bool listed = false;       // "[v7, v2, v9]": `value` has a byte for each of the first five
  std::uint8_t select_shift = 0;
  std::uint8_t select_bits = 32;
  std::uint16_t index =
      0;  // kVector: 0 to 255 v, 256 to 511 a; kScalar: as encoded; kHwreg: HardwareRegister
  std::uint32_t keep = 0xffffffff;  // abs: the highest word is first ANDed with this,
  std::uint32_t flip = 0;           // neg: then XORed with that
  std::uint64_t value = 0;          // kConstant; kHwreg: offset | width << 8
  const Row* rows = nullptr;        // kConstant: two, of both words, in all lanes
};

// Hardware registers of s_getreg and s_setreg; processors number them differently.
enum class HardwareRegister : std::uint16_t {
  kNone,
  kMode,
  kStatus,
  kTrapStatus,
  kHwId,
  kMemoryBases,
  kXccId,
  kCycles,
  kFlatScratchLow,
  kFlatScratchHigh
};
constexpr std::uint64_t kMessageRealTime = 0x83;  // of s_sendmsg_rtn

enum class DataParallel : std::uint8_t {
  kNone,
  kQuadPerm,
  kRowShl,
  kRowShr,
  kRowRor,
  kWaveShl,
  kWaveRol,
  kWaveShr,
  kWaveRor,
  kRowMirror,
  kRowHalfMirror,
  kRowBcast15,
  kRowBcast31,
  kRowNewBcast,
  kRowXor,
  kEight
};

// Modifiers that an instruction has, and that a table row accepts: one bit each.
enum Modifier : std::uint32_t {
  kClamp = 1 << 0,
  kOmod = 1 << 1,
  kOpSel = 1 << 2,
  kOpSelHi = 1 << 3,
  kNegLoHi = 1 << 4,
  kSdwa = 1 << 5,
  kDpp = 1 << 6,
  kOffset = 1 << 7,
  kOffset01 = 1 << 8,
  kCache = 1 << 9,  // glc, slc, scc, dlc, nv: no caches here; glc also asks for the value before an atomic
  kBufferMode = 1 << 10,
  kMatrix = 1 << 11,  // cbsz, abid, blgp
  kLds = 1 << 12,
  kGds = 1 << 13,
  kTfe = 1 << 14,
  kImage = 1 << 15,  // dmask, dim, unorm, da, d16
  // Facts of a table row, not modifiers.
  kKeepsHigh = 1 << 16,    // a result of 16 bits leaves the other half as it was
  kEndsBlock = 1 << 17,    // what follows may not be the next instruction, or the wave stops here
  kAccumulates = 1 << 19,  // the destination is the last source
  kSaturates = 1 << 18,    // an integer operation with clamp: the row does it
  kNoResult = 1 << 20      // all operands are sources
};

// How many coordinates an image instruction has, where its text says so.
enum class Dimensions : std::uint8_t { kNone, k1D, k2D, k3D, kCube, k1DArray, k2DArray };

struct Modifiers {
  std::uint32_t present = 0;
  bool clamp = false;
  bool glc = false;
  bool offen = false;
  bool idxen = false;
  bool bound_ctrl = false;
  bool fetch_inactive = false;  // DPP reads lanes that take no part, too
  std::uint8_t omod = 0;        // 1: times 2, 2: times 4, 3: half
  std::uint8_t op_sel = 0;
  std::uint8_t op_sel_hi = 0xff;
  std::uint8_t neg_lo = 0;
  std::uint8_t neg_hi = 0;
  std::uint8_t dst_shift = 0;  // SDWA
  std::uint8_t dst_bits = 32;
  std::uint8_t dst_unused = 0;  // 0: zeros, 1: sign, 2: as before
  std::array<std::uint8_t, 2> src_shift{};
  std::array<std::uint8_t, 2> src_bits = {32, 32};
  DataParallel dpp = DataParallel::kNone;
  std::uint32_t dpp_amount = 0;  // kQuadPerm: two bits for each lane; kEight: three
  std::uint8_t row_mask = 0xf;
  std::uint8_t bank_mask = 0xf;
  std::uint8_t cbsz = 0;
  std::uint8_t abid = 0;
  std::uint8_t blgp = 0;
  std::int32_t offset = 0;
  std::uint8_t offset0 = 0;
  std::uint8_t offset1 = 0;
  // Of images: which components there are, and
  std::uint8_t dmask = 0;
  Dimensions dimensions = Dimensions::kNone;
  bool unnormalized = false;
  bool array = false;
  bool halves = false;  // two components in a register
};

constexpr int kOperandsMax = 6;

struct TableRow {
  std::string_view name;  // without _e32, _e64, _sdwa, _dpp
  Handler handler = nullptr;
  std::uint32_t accepts = 0;  // Modifier
  std::array<Type, kOperandsMax> types{};
  // The same operation where operands are plain: registers and constants as they stand, a result that is
  // written as it is. Null: none is faster.
  Handler plain = nullptr;

  int first_source() const { return (accepts & kNoResult) != 0 ? 0 : 1; }
};

// Where a plain operand lies.
enum class Place : std::uint8_t {
  kNone,
  kRow,     // `at` bytes behind Wave::v
  kScalar,  // `at` bytes behind the Wave
  kNumber   // `number` is it; for operations on lanes, the address of two rows that hold its words
};
constexpr std::size_t kPlainMax = 4;  // operands whose places are known beforehand

// What every execution reads lies in the first 64 bytes.
struct alignas(64) Instruction {
  Handler handler = nullptr;
  std::array<Place, kPlainMax> is{};
  std::array<std::uint32_t, kPlainMax> at{};
  std::array<std::uint64_t, kPlainMax> number{};

  bool post = false;        // the result passes through write_back(): clamp, omod, SDWA, op_sel
  bool keeps_half = false;  // a result of 16 bits leaves the other half as it was
  std::uint8_t operands = 0;
  std::uint8_t bytes = 4;
  std::uint64_t address = 0;
  const TableRow* row = nullptr;
  Modifiers mods;
  std::array<Operand, kOperandsMax> op;
  std::array<std::uint64_t, 8> unused{};
};
// Instructions lie one behind the other: an even number of lines would leave half of a cache's sets unused.
static_assert(sizeof(Instruction) / 64 % 2 == 1, "add or take away 'unused'");

// Fills the places of plain operands, and chooses the handler. To be called again where an operand has
// changed.
void place_operands(Instruction& in);

// Every row of one class; table.cc joins them.
std::span<const TableRow> scalar_rows();
std::span<const TableRow> program_rows();
std::span<const TableRow> scalar_memory_rows();
std::span<const TableRow> vector1_rows();
std::span<const TableRow> vector2_rows();
std::span<const TableRow> vector3_rows();
std::span<const TableRow> carry_rows();
std::span<const TableRow> compare_rows();
std::span<const TableRow> packed_rows();
std::span<const TableRow> indexed_rows();
std::span<const TableRow> lane_rows();
std::span<const TableRow> local_rows();
std::span<const TableRow> local_atomic_rows();
std::span<const TableRow> global_rows();
std::span<const TableRow> global_atomic_rows();
std::span<const TableRow> buffer_rows();
std::span<const TableRow> formatted_rows();
std::span<const TableRow> image_rows();
std::span<const TableRow> matrix_rows();
std::span<const TableRow> wmma_rows();

}  // namespace tf::amd::isa
