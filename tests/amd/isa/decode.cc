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
int words(Type type) {
  switch (type) {
    case Type::kU64:
    case Type::kI64:
    case Type::kF64:
    case Type::kPair:
    case Type::kMask: return 2;
    case Type::kAny:
    case Type::kLiteral:
    case Type::kNone: return 0;
    default: return 1;
  }
}

bool fits(const Operand& operand, Type type) {
  if (operand.kind == Operand::Kind::kHwreg) return type == Type::kLiteral;
  if (type == Type::kLiteral) return operand.kind == Operand::Kind::kConstant;
  if (operand.kind == Operand::Kind::kOff) return type == Type::kAny;
  if (operand.kind == Operand::Kind::kConstant) return true;
  return words(type) == 0 || operand.count == words(type);
}

// A constant's neg and abs are applied once, here.
void fold(Operand& operand, Type type) {
  if (operand.kind != Operand::Kind::kConstant || !operand.modified || operand.sign_extend) return;
  const int shift = words(type) == 2 ? 32 : 0;
  const std::uint64_t low = shift == 0 ? 0 : operand.value & 0xffffffff;
  const std::uint32_t top = static_cast<std::uint32_t>(operand.value >> shift);
  operand.value = low | static_cast<std::uint64_t>((top & operand.keep) ^ operand.flip) << shift;
  operand.modified = false;
}

// What SDWA selects of the sources, and DPP of the first one. Masks do not count.
void select_sources(Instruction& in) {
  int source = 0;
  for (int i = 1; i < in.operands && source < 2; ++i) {
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

}  // namespace

const Row* Code::constant_row(std::uint32_t value) {
  const std::lock_guard<std::mutex> lock(constants_mutex_);
  std::unique_ptr<Row>& row = constants_[value];
  if (row == nullptr) {
    row = std::make_unique<Row>();
    for (std::uint32_t& lane : row->lane) lane = value;
  }
  return row.get();
}

void Code::fill_rows(Instruction& in) {
  for (int i = 0; i < in.operands; ++i) {
    Operand& operand = in.op[i];
    if (operand.kind != Operand::Kind::kConstant) continue;
    operand.rows[0] = constant_row(static_cast<std::uint32_t>(operand.value));
    operand.rows[1] = constant_row(static_cast<std::uint32_t>(operand.value >> 32));
  }
}

Disassembled Code::read(std::uint64_t address, MemoryView& memory) {
  std::uint64_t available = 20;  // an instruction may be shorter, and the last of its allocation
  while (available > 4 && memory.try_at(address, available, false) == nullptr) available -= 4;
  return disassembler_.read(memory.at(address, available, false), available, address);
}

std::string Code::text(std::uint64_t address, MemoryView& memory) { return read(address, memory).text; }

void Code::decode_one(Block& block, std::uint64_t address, MemoryView& memory) {
  const Disassembled read = this->read(address, memory);
  if (read.bytes == 0) {
    std::uint32_t first = 0;
    std::memcpy(&first, memory.at(address, 4, false), 4);
    stop(FailureKind::kUnknownInstruction, "bytes that are no instruction", address, hex(first));
  }
  std::string why;
  const std::optional<Parsed> parsed = parse(read.text, why);
  if (!parsed) stop(FailureKind::kUnsupportedOperand, "unsupported modifier " + why, address, read.text);
  Instruction in;
  in.row = find_row(parsed->mnemonic);
  if (in.row != nullptr && parsed->mods.clamp && (in.row->accepts & kClamp) == 0) {
    // Of integers: another operation, which saturates.
    const TableRow* saturating = find_row(std::string(parsed->mnemonic) + " clamp");
    if (saturating != nullptr) in.row = saturating;
  }
  if (in.row != nullptr && parsed->mods.glc) {
    const TableRow* returning = find_row(std::string(parsed->mnemonic) + " glc");
    if (returning != nullptr) in.row = returning;
  }
  if (in.row == nullptr) stop(FailureKind::kUnknownInstruction, "unknown instruction", address, read.text);
  in.handler = in.row->handler;
  in.bytes = static_cast<std::uint8_t>(read.bytes);
  in.address = address;
  in.mods = parsed->mods;
  if (parsed->mnemonic == "ds_swizzle_b32") {
    std::uint16_t bits = 0;
    std::memcpy(&bits, memory.at(address, 8, false), sizeof bits);
    in.mods.offset = bits;
  }
  if ((in.mods.present & ~in.row->accepts) != 0) {
    stop(FailureKind::kUnsupportedOperand, "unsupported modifier", address, read.text);
  }
  for (const std::string_view text : parsed->operands) {
    const std::size_t at = in.operands;
    const Type type = at < kOperandsMax ? in.row->types[at] : Type::kNone;
    const auto operand = at >= kOperandsMax || type == Type::kNone ? std::nullopt : parse_operand(text, type);
    if (!operand || !fits(*operand, type)) {
      stop(FailureKind::kUnsupportedOperand, "unsupported operand " + std::string(text), address, read.text);
    }
    in.op[at] = *operand;
    fold(in.op[at], type);
    ++in.operands;
  }
  if (in.operands < kOperandsMax && in.row->types[in.operands] != Type::kNone) {
    stop(FailureKind::kUnsupportedOperand, "too few operands", address, read.text);
  }
  if ((in.row->accepts & kAccumulates) != 0) in.op[in.operands] = in.op[0];
  if ((in.mods.present & (kSdwa | kDpp)) != 0) select_sources(in);
  const bool halves = in.row->types[0] == Type::kF16 || in.row->types[0] == Type::kU16;
  in.post = ((in.mods.present & (kClamp | kOmod)) != 0 && (in.row->accepts & kSaturates) == 0) ||
            (in.mods.present & kSdwa) != 0 ||
            (halves && ((in.mods.present & kOpSel) != 0 || (in.row->accepts & kKeepsHigh) != 0));
  for (int i = 1; i < std::min<int>(in.operands, kOperandsMax); ++i) {
    const Type type = in.row->types[i];
    if ((type != Type::kF16 && type != Type::kU16) || (in.mods.op_sel >> (i - 1) & 1) == 0) continue;
    in.op[i].select_shift = 16;
    in.op[i].select_bits = 16;
    in.op[i].modified = true;
  }
  fill_rows(in);
  block.instructions.push_back(in);
}

std::optional<Instruction> Code::decode_alone(std::uint64_t address, MemoryView& memory, unsigned& bytes,
                                              Stop& why) {
  bytes = read(address, memory).bytes;
  Block block;
  try {
    decode_one(block, address, memory);
  } catch (const Stop& stop) {
    why = stop;
    return std::nullopt;
  }
  return block.instructions.back();
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
