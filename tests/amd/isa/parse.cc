// SPDX-License-Identifier: Apache-2.0
// Parts of an instruction's text: mnemonic, operands, modifiers.
#include "tests/amd/isa/parse.h"

#include <charconv>

namespace tf::amd::isa {
namespace {

bool take(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

std::optional<std::int64_t> number(std::string_view text) {
  const bool negative = take(text, "-");
  const int base = take(text, "0x") ? 16 : 10;
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (text.empty() || error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return static_cast<std::int64_t>(negative ? 0 - value : value);
}

// "[1,0,3,2]": `bits` for each element, the first lowest.
std::optional<std::uint32_t> list(std::string_view text, int bits) {
  if (!take(text, "[") || !text.ends_with("]")) return std::nullopt;
  unsigned value = 0;
  int at = 0;
  for (const char c : text.substr(0, text.size() - 1)) {
    if (c == ',') continue;
    if (c < '0' || c >= '0' + (1 << bits) || at >= 8 * bits) return std::nullopt;
    value |= static_cast<unsigned>(c - '0') << at;
    at += bits;
  }
  return value;
}

// "BYTE_2": which bits SDWA selects.
bool select(std::string_view text, std::uint8_t& shift, std::uint8_t& bits) {
  if (text == "DWORD") return shift = 0, bits = 32, true;
  const bool byte = take(text, "BYTE_");
  if (!byte && !take(text, "WORD_")) return false;
  bits = byte ? 8 : 16;
  shift = static_cast<std::uint8_t>((text[0] - '0') * bits);
  return text.size() == 1 && shift < 32;
}

struct DppName {
  std::string_view name;
  DataParallel how;
  bool amount;
};
constexpr DppName kDppNames[] = {
    {"row_shl:", DataParallel::kRowShl, true},
    {"row_shr:", DataParallel::kRowShr, true},
    {"row_ror:", DataParallel::kRowRor, true},
    {"wave_shl:1", DataParallel::kWaveShl, false},
    {"wave_rol:1", DataParallel::kWaveRol, false},
    {"wave_shr:1", DataParallel::kWaveShr, false},
    {"wave_ror:1", DataParallel::kWaveRor, false},
    {"row_mirror", DataParallel::kRowMirror, false},
    {"row_half_mirror", DataParallel::kRowHalfMirror, false},
    {"row_bcast:15", DataParallel::kRowBcast15, false},
    {"row_bcast:31", DataParallel::kRowBcast31, false},
    {"row_newbcast:", DataParallel::kRowNewBcast, true},
    {"row_share:", DataParallel::kRowNewBcast, true},
    {"row_xmask:", DataParallel::kRowXor, true},
};

bool dpp(std::string_view text, Modifiers& mods) {
  if (take(text, "quad_perm:")) {
    const auto lanes = list(text, 2);
    if (!lanes) return false;
    mods.dpp = DataParallel::kQuadPerm;
    mods.dpp_amount = *lanes;
    return true;
  }
  if (take(text, "dpp8:")) {
    const auto lanes = list(text, 3);
    if (!lanes) return false;
    mods.dpp = DataParallel::kEight;
    mods.dpp_amount = *lanes;
    return true;
  }
  for (const DppName& each : kDppNames) {
    if (!text.starts_with(each.name) || (!each.amount && text != each.name)) continue;
    mods.dpp = each.how;
    if (!each.amount) return true;
    const auto amount = number(text.substr(each.name.size()));
    if (!amount || *amount < 0 || *amount > 15) return false;
    mods.dpp_amount = static_cast<std::uint32_t>(*amount);
    return true;
  }
  if (take(text, "bound_ctrl:")) return mods.bound_ctrl = true, text == "0" || text == "1";
  if (take(text, "fi:")) return mods.fetch_inactive = text == "1", text == "0" || text == "1";
  const bool row = take(text, "row_mask:");
  if (!row && !take(text, "bank_mask:")) return false;
  const auto mask = number(text);
  if (!mask || *mask < 0 || *mask > 15) return false;
  (row ? mods.row_mask : mods.bank_mask) = static_cast<std::uint8_t>(*mask);
  return true;
}

bool plain_word(std::string_view text, Modifiers& mods) {
  if (text == "glc" || text == "sc0") return mods.glc = true, mods.present |= kCache, true;
  if (text == "slc" || text == "scc" || text == "dlc" || text == "nv" || text == "sc1" || text == "nt") {
    return mods.present |= kCache, true;
  }
  if (text == "clamp") return mods.clamp = true, mods.present |= kClamp, true;
  if (text == "offen") return mods.offen = true, mods.present |= kBufferMode, true;
  if (text == "idxen") return mods.idxen = true, mods.present |= kBufferMode, true;
  if (text == "lds") return mods.present |= kLds, true;
  if (text == "gds") return mods.present |= kGds, true;
  if (text == "unorm") return mods.unnormalized = true, mods.present |= kImage, true;
  if (text == "da") return mods.array = true, mods.present |= kImage, true;
  if (text == "d16") return mods.halves = true, mods.present |= kImage, true;
  if (text == "tfe" || text == "addr64" || text == "r128") return mods.present |= kTfe, true;
  if (text == "mul:2") return mods.omod = 1, mods.present |= kOmod, true;
  if (text == "mul:4") return mods.omod = 2, mods.present |= kOmod, true;
  if (text == "div:2") return mods.omod = 3, mods.present |= kOmod, true;
  return false;
}

bool small_number(std::string_view text, std::uint8_t& to) {
  const auto value = number(text);
  if (!value || *value < 0 || *value > 255) return false;
  to = static_cast<std::uint8_t>(*value);
  return true;
}

bool bit_list(std::string_view text, std::uint8_t& to) {
  const auto bits = list(text, 1);
  if (bits) to = static_cast<std::uint8_t>(*bits);
  return bits.has_value();
}

bool dimensions(std::string_view text, Modifiers& mods) {
  constexpr std::pair<std::string_view, Dimensions> kNames[] = {
      {"SQ_RSRC_IMG_1D", Dimensions::k1D},
      {"SQ_RSRC_IMG_2D", Dimensions::k2D},
      {"SQ_RSRC_IMG_3D", Dimensions::k3D},
      {"SQ_RSRC_IMG_CUBE", Dimensions::kCube},
      {"SQ_RSRC_IMG_1D_ARRAY", Dimensions::k1DArray},
      {"SQ_RSRC_IMG_2D_ARRAY", Dimensions::k2DArray},
  };
  for (const auto& [name, value] : kNames) {
    if (text == name) return mods.dimensions = value, mods.present |= kImage, true;
  }
  return false;
}

bool named_value(std::string_view text, Modifiers& mods) {
  if (take(text, "offset:")) {
    const auto value = number(text);
    mods.present |= kOffset;
    if (value) mods.offset = static_cast<std::int32_t>(*value);
    return value.has_value();
  }
  if (take(text, "offset0:")) return mods.present |= kOffset01, small_number(text, mods.offset0);
  if (take(text, "offset1:")) return mods.present |= kOffset01, small_number(text, mods.offset1);
  if (take(text, "cbsz:")) return mods.present |= kMatrix, small_number(text, mods.cbsz);
  if (take(text, "abid:")) return mods.present |= kMatrix, small_number(text, mods.abid);
  if (take(text, "blgp:")) return mods.present |= kMatrix, small_number(text, mods.blgp);
  if (take(text, "op_sel_hi:")) return mods.present |= kOpSelHi, bit_list(text, mods.op_sel_hi);
  if (take(text, "op_sel:")) return mods.present |= kOpSel, bit_list(text, mods.op_sel);
  if (take(text, "neg:"))
    return mods.present |= kMatrix, bit_list(text, mods.blgp);  // of a product of doubles
  if (take(text, "neg_lo:")) return mods.present |= kNegLoHi, bit_list(text, mods.neg_lo);
  if (take(text, "neg_hi:")) return mods.present |= kNegLoHi, bit_list(text, mods.neg_hi);
  if (take(text, "dst_sel:")) return mods.present |= kSdwa, select(text, mods.dst_shift, mods.dst_bits);
  if (take(text, "dmask:")) return mods.present |= kImage, small_number(text, mods.dmask);
  if (take(text, "dim:")) return dimensions(text, mods);
  if (take(text, "dst_unused:")) {
    mods.dst_unused = text == "UNUSED_PAD" ? 0 : text == "UNUSED_SEXT" ? 1 : 2;
    return text == "UNUSED_PAD" || text == "UNUSED_SEXT" || text == "UNUSED_PRESERVE";
  }
  return false;
}

bool modifier(std::string_view text, Modifiers& mods) {
  if (plain_word(text, mods) || named_value(text, mods)) return true;
  for (const int source : {0, 1}) {
    if (!take(text, source == 0 ? "src0_sel:" : "src1_sel:")) continue;
    mods.present |= kSdwa;
    return select(text, mods.src_shift[source], mods.src_bits[source]);
  }
  if (!dpp(text, mods)) return false;
  mods.present |= kDpp;
  return true;
}

int step(char c) { return c == '(' || c == '[' ? 1 : c == ')' || c == ']' ? -1 : 0; }

// Pieces of "a, b(c, d), [e, f]": at ", " outside of parentheses and brackets.
std::vector<std::string_view> pieces(std::string_view text) {
  std::vector<std::string_view> result;
  int depth = 0;
  std::size_t start = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    depth += step(text[i]);
    if (text[i] != ',' || depth != 0 || i + 1 >= text.size() || text[i + 1] != ' ') continue;
    result.push_back(text.substr(start, i - start));
    start = i + 2;
  }
  result.push_back(text.substr(start));
  return result;
}

// The end of the operand that `text` begins with: the first space outside of parentheses and brackets.
std::size_t operand_end(std::string_view text) {
  int depth = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    depth += step(text[i]);
    if (text[i] == ' ' && depth == 0) return i;
  }
  return text.size();
}

std::string base_name(std::string_view mnemonic) {
  for (const std::string_view suffix : {"_e32", "_e64", "_sdwa", "_e64_dpp", "_dpp", "_e64_dpp8", "_dpp8"}) {
    if (mnemonic.ends_with(suffix)) return std::string(mnemonic.substr(0, mnemonic.size() - suffix.size()));
  }
  return std::string(mnemonic);
}

}  // namespace

std::optional<Parsed> parse(std::string_view text, bool zero_bounds, std::string& why) {
  Parsed parsed;
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  const std::size_t space = text.find(' ');
  parsed.mnemonic = base_name(text.substr(0, space));
  const bool dual = parsed.mnemonic.starts_with("v_dual_");
  if (dual) parsed.mnemonic.replace(0, 7, "v_");
  if (space == std::string_view::npos) return parsed;
  std::string_view rest = text.substr(space + 1);
  // What is waited for, such as "vmcnt(0) lgkmcnt(1)": memory is never behind, and results neither.
  if (parsed.mnemonic.starts_with("s_waitcnt") || parsed.mnemonic == "s_delay_alu") return parsed;
  if (parsed.mnemonic == "ds_swizzle_b32")
    rest = rest.substr(0, rest.find(" offset:"));  // decode reads the bits
  for (std::string_view piece : pieces(rest)) {
    while (take(piece, " ")) continue;
    const std::size_t end = operand_end(piece);
    // An instruction without operands may have modifiers only.
    Modifiers ignored;
    if (end > 0 && !modifier(piece.substr(0, end), ignored)) {
      parsed.operands.push_back(piece.substr(0, end));
      piece.remove_prefix(end);
    }
    while (take(piece, " ")) continue;
    while (!piece.empty()) {
      const std::size_t word = std::min(piece.find(' '), piece.size());
      const bool off = !zero_bounds && piece.substr(0, word) == "bound_ctrl:0";
      if (off || !modifier(piece.substr(0, word), parsed.mods)) {
        why = piece.substr(0, word);
        return std::nullopt;
      }
      piece.remove_prefix(word);
      while (take(piece, " ")) continue;
    }
  }
  // Its bits are always VCC's, which are not written there.
  if (dual && parsed.mnemonic == "v_cndmask_b32") parsed.operands.emplace_back("vcc_lo");
  return parsed;
}

}  // namespace tf::amd::isa
