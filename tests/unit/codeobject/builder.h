// SPDX-License-Identifier: Apache-2.0
// Builds the images that the tests read: MessagePack values, ELF files with a note, bundles. Test-only, one
// thread.
#pragma once

#include "hipcore/codeobject/bytes.h"

#include <elf.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

namespace tf::codeobject::testing {

inline Bytes bytes_of(const std::string& s) {
  return {reinterpret_cast<const std::byte*>(s.data()), s.size()};
}

template <typename T>
std::string raw(const T& value) {
  return {reinterpret_cast<const char*>(&value), sizeof value};
}

inline std::string text(const std::string& s) {
  return std::string(1, '\xda') + static_cast<char>(s.size() >> 8) + static_cast<char>(s.size()) + s;
}
inline std::string number(std::uint32_t n) {
  std::string out(1, '\xce');
  for (int shift = 24; shift >= 0; shift -= 8) out += static_cast<char>(n >> shift);
  return out;
}
inline std::string array(const std::vector<std::string>& items) {
  std::string out(1, static_cast<char>(0x90 | items.size()));
  for (const auto& item : items) out += item;
  return out;
}
inline std::string map(const std::vector<std::pair<std::string, std::string>>& items) {
  std::string out(1, static_cast<char>(0x80 | items.size()));
  for (const auto& [key, value] : items) out += text(key) + value;
  return out;
}
inline std::string argument(std::uint32_t offset, std::uint32_t size, const std::string& kind) {
  return map({{".offset", number(offset)}, {".size", number(size)}, {".value_kind", text(kind)}});
}

// An ELF with one segment of notes, as AMD's compiler and ours write it, or AMD's linker.
inline std::string elf_with_notes(const std::vector<std::string>& descriptions, std::uint16_t machine = 224) {
  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_machine = machine;
  header.e_phoff = sizeof header;
  header.e_phentsize = sizeof(Elf64_Phdr);
  header.e_phnum = 1;
  std::string notes;
  for (const std::string& description : descriptions) {
    notes += raw(Elf64_Nhdr{7, static_cast<Elf64_Word>(description.size()), 32});
    notes += std::string("AMDGPU\0\0", 8) + description;
    notes.resize((notes.size() + 3) / 4 * 4);
  }
  Elf64_Phdr segment{};
  segment.p_type = PT_NOTE;
  segment.p_offset = sizeof header + sizeof segment;
  segment.p_filesz = notes.size();
  segment.p_align = 4;
  return raw(header) + raw(segment) + notes;
}
inline std::string elf_with_note(const std::string& description, std::uint16_t machine = 224) {
  return elf_with_notes({description}, machine);
}

// A symbol of an image.
struct Wanted {
  std::string name;
  std::uint64_t value;
  std::uint64_t bytes;
  bool defined = true;
  unsigned char type = STT_OBJECT;
};

// An ELF image with these dynamic symbols.
inline std::string elf_with(const std::vector<Wanted>& symbols) {
  std::string strings(1, '\0');
  std::string table = raw(Elf64_Sym{});
  for (const Wanted& wanted : symbols) {
    Elf64_Sym symbol{};
    symbol.st_name = static_cast<Elf64_Word>(strings.size());
    symbol.st_info = ELF64_ST_INFO(STB_GLOBAL, wanted.type);
    symbol.st_shndx = wanted.defined ? 1 : SHN_UNDEF;
    symbol.st_value = wanted.value;
    symbol.st_size = wanted.bytes;
    table += raw(symbol);
    strings += wanted.name + '\0';
  }
  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_machine = 224;
  header.e_shoff = sizeof header;
  header.e_shentsize = sizeof(Elf64_Shdr);
  header.e_shnum = 3;
  Elf64_Shdr dynamic{};
  Elf64_Shdr text{};
  dynamic.sh_type = SHT_DYNSYM;
  dynamic.sh_link = 2;
  dynamic.sh_offset = sizeof header + 3 * sizeof(Elf64_Shdr);
  dynamic.sh_size = table.size();
  text.sh_type = SHT_STRTAB;
  text.sh_offset = dynamic.sh_offset + table.size();
  text.sh_size = strings.size();
  return raw(header) + raw(Elf64_Shdr{}) + raw(dynamic) + raw(text) + table + strings;
}

inline std::string bundle(const std::vector<std::pair<std::string, std::string>>& entries) {
  std::string out = "__CLANG_OFFLOAD_BUNDLE__" + raw(std::uint64_t{entries.size()});
  std::uint64_t at = 4096;
  for (const auto& [id, image] : entries) {
    out += raw(at) + raw(std::uint64_t{image.size()}) + raw(std::uint64_t{id.size()}) + id;
    at += image.size();
  }
  out.resize(4096);
  for (const auto& entry : entries) out += entry.second;
  return out;
}

}  // namespace tf::codeobject::testing
