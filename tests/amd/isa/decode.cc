// SPDX-License-Identifier: Apache-2.0
// From bytes to instructions that can be executed: text, row of the table, operands.
#include "tests/amd/isa/decode.h"

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <cstring>

#include "tests/amd/isa/parse.h"

namespace tf::amd::isa {
namespace {

constexpr std::size_t kBlockInstructionsMax = 4096;
constexpr int kUnseenRow = kWaveRows - 1;  // where there are pairs, there are no accumulators

std::string hex(std::uint64_t value) {
  char text[24];
  std::snprintf(text, sizeof text, "0x%" PRIx64, value);
  return text;
}

[[noreturn]] void stop(FailureKind kind, const std::string& what, std::uint64_t address,
                       const std::string& text) {
  throw Stop{kind, what + ": \"" + text + "\" at " + hex(address), 0, 0};
}

// Registers that a type needs; 0: any.
int words(Type type, int lanes) {
  switch (type) {
    case Type::kU64:
    case Type::kI64:
    case Type::kF64:
    case Type::kPair: return 2;
    case Type::kMask: return lanes / 32;
    case Type::kAny:
    case Type::kLiteral:
    case Type::kNone: return 0;
    default: return 1;
  }
}

bool is_half(Type type) { return type == Type::kF16 || type == Type::kU16; }

bool fits(const Operand& operand, Type type, int lanes) {
  if (operand.kind == Operand::Kind::kHwreg) return type == Type::kLiteral;
  if (type == Type::kLiteral) return operand.kind == Operand::Kind::kConstant;
  if (operand.kind == Operand::Kind::kOff) return type == Type::kAny;
  if (operand.kind == Operand::Kind::kConstant) return true;
  return words(type, lanes) == 0 || operand.count == words(type, lanes);
}

// A constant's neg and abs are applied once, here.
void fold(Operand& operand, Type type) {
  if (operand.kind != Operand::Kind::kConstant || !operand.modified || operand.sign_extend) return;
  const int shift = words(type, kLanes) == 2 ? 32 : 0;
  const std::uint64_t low = shift == 0 ? 0 : operand.value & 0xffffffff;
  const std::uint32_t top = static_cast<std::uint32_t>(operand.value >> shift);
  operand.value = low | static_cast<std::uint64_t>((top & operand.keep) ^ operand.flip) << shift;
  operand.modified = false;
}

// What SDWA selects of the sources, and DPP of the first one. Masks do not count.
void select_sources(Instruction& in) {
  int source = 0;
  for (int i = in.row->first_source(); i < in.operands && source < 2; ++i) {
    if (in.row->types[i] == Type::kMask) continue;
    Operand& operand = in.op[i];
    operand.select_shift = in.mods.src_shift[source];
    operand.select_bits = in.mods.src_bits[source];
    operand.modified |= operand.select_bits != 32;
    operand.dpp = source == 0 && (in.mods.present & kDpp) != 0;
    operand.modified |= operand.dpp;
    ++source;
  }
}

// Where a result goes nowhere; as a source it is 0.
Operand null_operand(const TableRow& row, std::size_t at, int count) {
  const bool second_result = at == 1 && row.types[1] == Type::kMask && row.types[0] != Type::kMask;
  const bool result = at == 0 && row.first_source() == 1;
  Operand operand;
  operand.count = static_cast<std::uint8_t>(std::max(count, 1));
  operand.kind = result || second_result ? Operand::Kind::kScalar : Operand::Kind::kConstant;
  if (operand.kind == Operand::Kind::kScalar) operand.index = kNull;
  return operand;
}

// Copies of the destination behind the operands, which are sources.
int accumulators(const Instruction& in) { return (in.row->accepts & kAccumulates) != 0 ? 1 : 0; }

// Which halves of registers an operation of 16 bits reads, and whether its result needs more than a write.
// Bits of op_sel: of each source, then of the result, which is also that of an accumulator.
void choose_halves(Instruction& in, const Processor& processor) {
  const int first = in.row->first_source();
  for (int i = 0; i < in.operands; ++i) {
    if (!in.op[i].high_half) continue;
    in.mods.op_sel |= static_cast<std::uint8_t>(1U << (i < first ? in.operands - 1 : i - first));
    in.mods.present |= kOpSel;
  }
  const bool halves = first == 1 && is_half(in.row->types[0]);
  in.keeps_half = halves && (processor.halves_stay || (in.row->accepts & kKeepsHigh) != 0);
  in.post = ((in.mods.present & (kClamp | kOmod)) != 0 && (in.row->accepts & kSaturates) == 0) ||
            (in.mods.present & kSdwa) != 0 || in.keeps_half || (halves && (in.mods.present & kOpSel) != 0);
  for (int i = first; i < std::min<int>(in.operands + accumulators(in), kOperandsMax); ++i) {
    const Type type = in.row->types[i < in.operands ? i : 0];
    if (!is_half(type) || (in.mods.op_sel >> (i - first) & 1) == 0) continue;
    in.op[i].select_shift = 16;
    in.op[i].select_bits = 16;
    in.op[i].modified = true;
  }
}

// Empty, or why an encoding addresses halves of registers that its text does not name: LLVM 15 takes such a
// half for another register, and both it and 19 drop op_sel of some instructions.
std::string unread_halves(const Instruction& in, const Disassembled& read) {
  const std::span<const Type> types(in.row->types);
  if (std::none_of(types.begin(), types.end(), is_half)) return "";
  constexpr std::uint32_t kVop3 = 0x35;
  constexpr std::uint32_t kOpSelBits = 0xf << 11;
  constexpr int kHalvesFrom = 128;  // of 8 bits for a register, the highest says which half
  if (read.first >> 26 == kVop3) {
    const bool named = read.text.find("op_sel") != std::string::npos ||
                       read.text.find(".l") != std::string::npos || read.text.find(".h") != std::string::npos;
    return named || (read.first & kOpSelBits) == 0
               ? ""
               : "half of a register by op_sel, which libLLVM does not read";
  }
  for (int i = 0; i < in.operands; ++i) {
    const Operand& operand = in.op[i];
    const bool beyond = operand.kind == Operand::Kind::kVector && operand.index >= kHalvesFrom;
    if (beyond && is_half(types[i])) return "half of a register, which libLLVM does not read";
  }
  return "";
}

// Whether a half of a pair reads the register that the other one writes.
bool reads(const Instruction& in, const Operand& result) {
  for (int i = in.row->first_source(); i < in.operands + accumulators(in); ++i) {
    if (in.op[i].kind == Operand::Kind::kVector && in.op[i].index == result.index) return true;
  }
  return false;
}

}  // namespace

const Row* Code::constant_rows(std::uint64_t value) {
  const std::lock_guard<std::mutex> lock(constants_mutex_);
  std::unique_ptr<Row[]>& rows = constants_[value];
  if (rows == nullptr) {
    rows = std::make_unique<Row[]>(2);
    for (std::uint32_t& lane : rows[0].lane) lane = static_cast<std::uint32_t>(value);
    for (std::uint32_t& lane : rows[1].lane) lane = static_cast<std::uint32_t>(value >> 32);
  }
  return rows.get();
}

void Code::fill_rows(Instruction& in) {
  for (int i = 0; i < in.operands; ++i) {
    Operand& operand = in.op[i];
    if (operand.kind != Operand::Kind::kConstant) continue;
    operand.rows = constant_rows(operand.value);
  }
}

Disassembled Code::read(std::uint64_t address, MemoryView& memory) {
  std::uint64_t available = 20;  // an instruction may be shorter, and the last of its allocation
  while (available > 4 && memory.try_at(address, available, false) == nullptr) available -= 4;
  return disassembler_.read(memory.at(address, available, false), available, address);
}

std::string Code::text(std::uint64_t address, MemoryView& memory) { return read(address, memory).text; }

// The table has rows of their own for integers that saturate, and for atomics that return the value before.
const TableRow* Code::row_of(const Parsed& parsed) const {
  const std::string& name = parsed.mnemonic;
  const TableRow* row = names_.find(name);
  if (row != nullptr && parsed.mods.clamp && (row->accepts & kClamp) == 0) {
    const TableRow* saturating = names_.find(name + " clamp");
    if (saturating != nullptr) row = saturating;
  }
  if ((parsed.mods.present & kLds) != 0) return names_.find(name + " lds");
  const TableRow* returning = parsed.mods.glc ? names_.find(name + " glc") : nullptr;
  return returning != nullptr ? returning : row;
}

void Code::take_operands(Instruction& in, const Parsed& parsed, const std::string& whole) {
  const auto refuse = [&](const std::string& what) {
    stop(FailureKind::kUnsupportedOperand, what, in.address, whole);
  };
  for (const std::string_view text : parsed.operands) {
    const std::size_t at = in.operands;
    const Type type = at < kOperandsMax ? in.row->types[at] : Type::kNone;
    auto operand = at >= kOperandsMax || type == Type::kNone ? std::nullopt : parse_operand(text, type);
    if (operand && operand->kind == Operand::Kind::kNull)
      *operand = null_operand(*in.row, at, words(type, lanes_));
    if (!operand || !fits(*operand, type, lanes_) || (operand->half && !is_half(type))) {
      refuse("unsupported operand " + std::string(text));
    }
    in.op[at] = *operand;
    fold(in.op[at], type);
    ++in.operands;
  }
  if (in.operands < kOperandsMax && in.row->types[in.operands] != Type::kNone) refuse("too few operands");
}

Instruction Code::decode_text(std::string_view text, const Disassembled& read, std::uint64_t address) {
  std::string why;
  const std::optional<Parsed> parsed = parse(text, !processor_.wave32, why);
  if (!parsed) stop(FailureKind::kUnsupportedOperand, "unsupported modifier " + why, address, read.text);
  Instruction in;
  in.row = row_of(*parsed);
  if (in.row == nullptr) stop(FailureKind::kUnknownInstruction, "unknown instruction", address, read.text);
  in.handler = in.row->handler;
  in.bytes = static_cast<std::uint8_t>(read.bytes);
  in.address = address;
  in.mods = parsed->mods;
  if ((in.mods.present & ~in.row->accepts) != 0) {
    stop(FailureKind::kUnsupportedOperand, "unsupported modifier", address, read.text);
  }
  take_operands(in, *parsed, read.text);
  const std::string unread = processor_.halves_stay ? unread_halves(in, read) : "";
  if (!unread.empty()) stop(FailureKind::kUnsupportedOperand, unread, address, read.text);
  if (accumulators(in) != 0) in.op[in.operands] = in.op[0];
  if ((in.mods.present & (kSdwa | kDpp)) != 0) select_sources(in);
  choose_halves(in, processor_);
  fill_rows(in);
  place_operands(in);
  return in;
}

// Both halves of a pair read their sources before either writes [RDNA3 chapter 7.6]. One after the other
// gives the same where the second one does not read what the first one wrote; else the first one writes a
// register that nobody sees, from which it is moved.
void Code::decode_pair(Block& block, const Disassembled& read, std::uint64_t address) {
  const std::string_view text = read.text;
  const std::size_t middle = text.find(" :: ");
  Instruction first = decode_text(text.substr(0, middle), read, address);
  Instruction second = decode_text(text.substr(middle + 4), read, address);
  if (!reads(second, first.op[0])) {
    block.instructions.insert(block.instructions.end(), {first, second});
  } else if (!reads(first, second.op[0])) {
    block.instructions.insert(block.instructions.end(), {second, first});
  } else {
    Instruction move = decode_text("v_mov_b32 v0, v0", read, address);
    move.op[0] = first.op[0];
    first.op[0].index = move.op[1].index = kUnseenRow;
    place_operands(first);
    place_operands(move);
    block.instructions.insert(block.instructions.end(), {first, second, move});
  }
}

void Code::decode_one(Block& block, std::uint64_t address, MemoryView& memory) {
  const Disassembled read = this->read(address, memory);
  if (read.bytes == 0) {
    std::uint32_t first = 0;
    std::memcpy(&first, memory.at(address, 4, false), 4);
    stop(FailureKind::kUnknownInstruction, "bytes that are no instruction", address, hex(first));
  }
  if (read.text.find(" :: ") != std::string::npos) return decode_pair(block, read, address);
  Instruction in = decode_text(read.text, read, address);
  if (read.text.starts_with("ds_swizzle_b32")) {
    std::uint16_t bits = 0;
    std::memcpy(&bits, memory.at(address, 8, false), sizeof bits);
    in.mods.offset = bits;
  }
  block.instructions.push_back(in);
}

std::vector<Instruction> Code::decode_alone(std::uint64_t address, MemoryView& memory, unsigned& bytes,
                                            Stop& why) {
  bytes = read(address, memory).bytes;
  Block block;
  try {
    decode_one(block, address, memory);
  } catch (const Stop& stop) {
    why = stop;
    return {};
  }
  return std::move(block.instructions);
}

std::unique_ptr<Block> Code::decode(std::uint64_t address, MemoryView& memory) {
  auto block = std::make_unique<Block>();
  block->begin = block->end = address;
  if (address % 4 != 0) throw Stop{FailureKind::kMisaligned, "program counter " + hex(address), address, 0};
  while (block->instructions.size() < kBlockInstructionsMax) {
    try {
      decode_one(*block, block->end, memory);
    } catch (const Stop&) {
      // What stands before it runs first, and may never come here.
      if (block->instructions.empty()) throw;
      break;
    }
    block->end += block->instructions.back().bytes;
    if ((block->instructions.back().row->accepts & kEndsBlock) != 0) break;
  }
  return block;
}

Block* Code::block(std::uint64_t address, MemoryView& memory) {
  {
    const std::shared_lock<std::shared_mutex> lock(mutex_);
    const auto found = blocks_.find(address);
    if (found != blocks_.end()) return found->second.get();
  }
  std::unique_ptr<Block> fresh = decode(address, memory);
  const std::unique_lock<std::shared_mutex> lock(mutex_);
  return blocks_.try_emplace(address, std::move(fresh)).first->second.get();
}

// A block that runs may be about to look at what followed it last, so nothing is freed while any does.
void Code::forget(std::uint64_t begin, std::uint64_t bytes) {
  const std::unique_lock<std::shared_mutex> lock(mutex_);
  for (auto it = blocks_.begin(); it != blocks_.end();) {
    const Block& block = *it->second;
    const bool gone = block.begin < begin + bytes && begin < block.end;
    if (gone) forgotten_.push_back(std::move(it->second));
    it = gone ? blocks_.erase(it) : std::next(it);
  }
  for (auto& [address, block] : blocks_) block->next[0] = block->next[1] = nullptr;
  if (users_ == 0) forgotten_.clear();
}

}  // namespace tf::amd::isa
