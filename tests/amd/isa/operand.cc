// SPDX-License-Identifier: Apache-2.0
// One operand from its text: registers, constants, and the modifiers that stand around it.
#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <iterator>

#include "tests/amd/isa/parse.h"
#include "tests/amd/isa/wave.h"

namespace tf::amd::isa {
namespace {

using Kind = Operand::Kind;

std::optional<unsigned> index_of(std::string_view text) {
  unsigned value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// "v7", "s[2:3]", "ttmp[4:5]": after the letters.
std::optional<Operand> numbered(std::string_view text, Kind kind, unsigned first, unsigned limit) {
  Operand operand;
  operand.kind = kind;
  std::optional<unsigned> low, high;
  if (text.starts_with("[") && text.ends_with("]")) {
    text = text.substr(1, text.size() - 2);
    const std::size_t colon = text.find(':');
    low = index_of(text.substr(0, colon));
    high = colon == std::string_view::npos ? low : index_of(text.substr(colon + 1));
  } else {
    low = high = index_of(text);
  }
  if (!low || !high || *high < *low || *high >= limit) return std::nullopt;
  operand.index = static_cast<std::uint16_t>(first + *low);
  operand.count = static_cast<std::uint8_t>(*high - *low + 1);
  return operand;
}

struct Named {
  std::string_view name;
  Kind kind;
  std::uint16_t index;
  std::uint8_t count;
  std::uint64_t value;
};
constexpr Named kNamed[] = {
    {"vcc", Kind::kScalar, kVccLo, 2, 0},
    {"vcc_lo", Kind::kScalar, kVccLo, 1, 0},
    {"vcc_hi", Kind::kScalar, kVccLo + 1, 1, 0},
    {"exec", Kind::kScalar, kExecLo, 2, 0},
    {"exec_lo", Kind::kScalar, kExecLo, 1, 0},
    {"exec_hi", Kind::kScalar, kExecLo + 1, 1, 0},
    {"m0", Kind::kScalar, kM0, 1, 0},
    {"flat_scratch", Kind::kScalar, kFlatScratchLo, 2, 0},
    {"flat_scratch_lo", Kind::kScalar, kFlatScratchLo, 1, 0},
    {"flat_scratch_hi", Kind::kScalar, kFlatScratchLo + 1, 1, 0},
    {"xnack_mask", Kind::kScalar, kXnackMaskLo, 2, 0},
    {"xnack_mask_lo", Kind::kScalar, kXnackMaskLo, 1, 0},
    {"xnack_mask_hi", Kind::kScalar, kXnackMaskLo + 1, 1, 0},
    {"off", Kind::kOff, 0, 0, 0},
    {"null", Kind::kNull, 0, 1, 0},
    {"scc", Kind::kScc, 0, 1, 0},
    {"src_scc", Kind::kScc, 0, 1, 0},
    {"vccz", Kind::kVccz, 0, 1, 0},
    {"src_vccz", Kind::kVccz, 0, 1, 0},
    {"execz", Kind::kExecz, 0, 1, 0},
    {"src_execz", Kind::kExecz, 0, 1, 0},
    {"src_shared_base", Kind::kConstant, 0, 2, std::uint64_t{kSharedApertureHigh} << 32},
    {"src_shared_limit", Kind::kConstant, 0, 2, std::uint64_t{kSharedApertureHigh} << 32 | 0xffffffff},
    {"src_private_base", Kind::kConstant, 0, 2, std::uint64_t{kPrivateApertureHigh} << 32},
    {"src_private_limit", Kind::kConstant, 0, 2, std::uint64_t{kPrivateApertureHigh} << 32 | 0xffffffff},
};

std::optional<Operand> registers(std::string_view text) {
  for (const Named& each : kNamed) {
    if (text != each.name) continue;
    Operand operand;
    operand.kind = each.kind;
    operand.index = each.index;
    operand.count = each.count;
    operand.value = each.value;
    return operand;
  }
  if (text.starts_with("ttmp")) return numbered(text.substr(4), Kind::kScalar, kTtmp0, 16);
  if (text.starts_with("v")) return numbered(text.substr(1), Kind::kVector, 0, 256);
  if (text.starts_with("a")) return numbered(text.substr(1), Kind::kVector, 256, 256);
  if (text.starts_with("s")) return numbered(text.substr(1), Kind::kScalar, 0, kVccLo);
  return std::nullopt;
}

bool is_64(Type type) {
  return type == Type::kU64 || type == Type::kI64 || type == Type::kF64 || type == Type::kMask ||
         type == Type::kPair;
}

// The bits of an inline float constant [CDNA2 chapter 3.5: 0.5 to 4.0, 1 / (2 pi)].
std::optional<std::uint64_t> inline_float(std::string_view text, Type type) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  const bool inverse_pi = std::abs(value - 0.15915494) < 1e-4;
  if (type == Type::kF64 || type == Type::kU64 || type == Type::kI64 || type == Type::kMask) {
    return inverse_pi ? 0x3fc45f306dc9c882 : std::bit_cast<std::uint64_t>(value);
  }
  const std::uint32_t bits =
      inverse_pi ? 0x3e22f983 : std::bit_cast<std::uint32_t>(static_cast<float>(value));
  if (type != Type::kF16 && type != Type::kU16 && type != Type::kPacked) {
    return type == Type::kPair ? bits : std::uint64_t{bits};
  }
  if (inverse_pi) return 0x3118;
  if (bits << 1 == 0) return 0;
  return (bits >> 16 & 0x8000) | (((bits >> 23 & 0xff) - 112) << 10) | (bits >> 13 & 0x3ff);
}

std::optional<std::uint64_t> constant(std::string_view text, Type type) {
  std::string_view digits = text;
  const bool negative = digits.starts_with("-");
  if (negative) digits.remove_prefix(1);
  const bool hexadecimal = digits.starts_with("0x");
  if (!hexadecimal && digits.find_first_of(".e") != std::string_view::npos) return inline_float(text, type);
  if (hexadecimal) digits.remove_prefix(2);
  std::uint64_t value = 0;
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), value, hexadecimal ? 16 : 10);
  if (digits.empty() || error != std::errc{} || end != digits.data() + digits.size()) return std::nullopt;
  if (negative) value = 0 - value;
  if (hexadecimal && !negative && type == Type::kF64) return value << 32;
  if (hexadecimal && !negative && type == Type::kI64)
    return static_cast<std::uint64_t>(static_cast<std::int32_t>(value));
  if (!is_64(type)) value &= 0xffffffff;
  return value;
}

// "hwreg(HW_REG_MODE, 4, 2)"
std::optional<Operand> hardware_register(std::string_view text) {
  struct Known {
    std::string_view name;
    HardwareRegister number;
  };
  using enum HardwareRegister;
  constexpr Known kKnown[] = {{"HW_REG_MODE", kMode},
                              {"HW_REG_STATUS", kStatus},
                              {"HW_REG_TRAPSTS", kTrapStatus},
                              {"HW_REG_HW_ID", kHwId},
                              {"HW_REG_HW_ID1", kHwId},
                              {"HW_REG_SH_MEM_BASES", kMemoryBases},
                              {"HW_REG_XCC_ID", kXccId},
                              {"HW_REG_SHADER_CYCLES", kCycles},
                              {"HW_REG_FLAT_SCR_LO", kFlatScratchLow},
                              {"HW_REG_FLAT_SCR_HI", kFlatScratchHigh}};
  if (!text.starts_with("hwreg(") || !text.ends_with(")")) return std::nullopt;
  text = text.substr(6, text.size() - 7);
  Operand operand;
  operand.kind = Kind::kHwreg;
  const std::string_view name = text.substr(0, text.find(','));
  for (const Known& each : kKnown) {
    if (name == each.name) operand.index = static_cast<std::uint16_t>(each.number);
  }
  if (operand.index == 0) return std::nullopt;
  unsigned offset = 0;
  unsigned width = 32;
  if (text.size() > name.size()) {
    text = text.substr(name.size() + 2);
    const std::size_t comma = text.find(',');
    const auto first = index_of(text.substr(0, comma));
    const auto second = comma == std::string_view::npos ? std::nullopt : index_of(text.substr(comma + 2));
    if (!first || !second || *first > 31 || *second > 32) return std::nullopt;
    offset = *first;
    width = *second;
  }
  operand.value = offset | width << 8;
  return operand;
}

std::optional<Operand> message(std::string_view text) {
  struct Known {
    std::string_view text;
    std::uint64_t number;
  };
  constexpr Known kKnown[] = {{"sendmsg(MSG_INTERRUPT)", 1},
                              {"sendmsg(MSG_DEALLOC_VGPRS)", 3},
                              {"sendmsg(MSG_RTN_GET_DOORBELL)", 0x80},
                              {"sendmsg(MSG_RTN_GET_REALTIME)", kMessageRealTime}};
  for (const Known& each : kKnown) {
    if (text != each.text) continue;
    Operand operand;
    operand.kind = Operand::Kind::kConstant;
    operand.value = each.number;
    return operand;
  }
  return std::nullopt;
}

// "gpr_idx(SRC0,DST)": which operands are indexed, a bit each.
std::optional<Operand> indexed_operands(std::string_view text) {
  constexpr std::string_view kNames[] = {"SRC0", "SRC1", "SRC2", "DST"};
  if (!text.starts_with("gpr_idx(") || !text.ends_with(")")) return std::nullopt;
  text = text.substr(8, text.size() - 9);
  Operand operand;
  operand.kind = Operand::Kind::kConstant;
  while (!text.empty()) {
    const std::string_view name = text.substr(0, text.find(','));
    const auto* found = std::find(std::begin(kNames), std::end(kNames), name);
    if (found == std::end(kNames)) return std::nullopt;
    operand.value |= std::uint64_t{1} << (found - std::begin(kNames));
    text.remove_prefix(std::min(name.size() + 1, text.size()));
  }
  return operand;
}

// "v7.h": a half of a register.
std::optional<Operand> half_register(std::string_view text) {
  const bool high = text.ends_with(".h");
  if (!high && !text.ends_with(".l")) return std::nullopt;
  std::optional<Operand> operand = registers(text.substr(0, text.size() - 2));
  if (!operand || operand->kind != Kind::kVector || operand->count != 1) return std::nullopt;
  operand->half = true;
  operand->high_half = high;
  return operand;
}

// "[v7, v2, v[9:12]]": addresses of an image instruction that do not follow each other; only the last one may
// be several.
std::optional<Operand> register_list(std::string_view text) {
  constexpr unsigned kListed = 5;
  if (!text.starts_with("[v") || !text.ends_with("]")) return std::nullopt;
  text = text.substr(1, text.size() - 2);
  Operand list;
  list.kind = Kind::kVector;
  list.listed = true;
  list.count = 0;
  for (unsigned at = 0; !text.empty(); ++at) {
    const std::size_t comma = text.find(", ");
    const std::optional<Operand> each = registers(text.substr(0, comma));
    const bool last = comma == std::string_view::npos;
    if (!each || each->kind != Kind::kVector || each->index > 255 || at >= kListed) return std::nullopt;
    if (each->count != 1 && (!last || at != kListed - 1)) return std::nullopt;
    list.value |= std::uint64_t{each->index} << (8 * at);
    list.count = static_cast<std::uint8_t>(list.count + each->count);
    text = last ? std::string_view{} : text.substr(comma + 2);
  }
  return list;
}

void set_sign(Operand& operand, Type type, bool negate, bool absolute) {
  const std::uint32_t sign = type == Type::kF16 || type == Type::kU16 ? 0x8000 : 0x80000000;
  if (absolute) operand.keep = ~sign;
  if (negate) operand.flip = sign;
  operand.modified = negate || absolute;
}

}  // namespace

std::optional<Operand> parse_operand(std::string_view text, Type type) {
  if (text.starts_with("hwreg(")) return hardware_register(text);
  if (text.starts_with("sendmsg(")) return message(text);
  if (text.starts_with("gpr_idx(")) return indexed_operands(text);
  bool negate = false;
  bool absolute = false;
  bool sign = false;
  if (text.starts_with("-") && text.size() > 1 && (text[1] < '0' || text[1] > '9')) {
    negate = true;
    text.remove_prefix(1);
  }
  if (text.starts_with("neg(") && text.ends_with(")")) {
    negate = true;
    text = text.substr(4, text.size() - 5);
  }
  if (text.starts_with("|") && text.ends_with("|") && text.size() > 2) {
    absolute = true;
    text = text.substr(1, text.size() - 2);
  }
  if (text.starts_with("sext(") && text.ends_with(")")) {
    sign = true;
    text = text.substr(5, text.size() - 6);
  }
  std::optional<Operand> operand = registers(text);
  if (!operand) operand = half_register(text);
  if (!operand && type == Type::kAny) operand = register_list(text);
  if (!operand) {
    const auto value = constant(text, type);
    if (!value) return std::nullopt;
    operand.emplace();
    operand->kind = Kind::kConstant;
    operand->count = is_64(type) ? 2 : 1;
    operand->value = *value;
  }
  set_sign(*operand, type, negate, absolute);
  operand->sign_extend = sign;
  operand->modified |= sign;
  return operand;
}

}  // namespace tf::amd::isa
