// SPDX-License-Identifier: Apache-2.0
#include "tests/amd/hsa/elf_image.h"

#include <algorithm>
#include <cstring>

namespace tf::amd::hsa {
namespace {

// LLVM's "ELF Code Object", tables of e_machine and OS ABI.
constexpr unsigned kMachine = 224;
constexpr unsigned kOsAbi = 64;  // ELFOSABI_AMDGPU_HSA
constexpr std::uint64_t kImageBytesMax = std::uint64_t{1} << 32;

template <typename Record>
bool copy_record(std::span<const char> bytes, std::uint64_t offset, Record& record) {
  if (offset > bytes.size() || bytes.size() - offset < sizeof record) return false;
  std::memcpy(&record, bytes.data() + offset, sizeof record);
  return true;
}

bool contains(std::span<const char> bytes, std::uint64_t offset, std::uint64_t length) {
  return offset <= bytes.size() && length <= bytes.size() - offset;
}

std::string text_at(std::span<const char> strings, std::uint64_t offset) {
  if (offset >= strings.size()) return {};
  const char* begin = strings.data() + offset;
  return std::string(begin, strnlen(begin, strings.size() - offset));
}

// Reads sections, since these say how many dynamic symbols there are.
class Reader {
 public:
  Reader(std::span<const char> bytes, ElfImage& image) : bytes_(bytes), image_(image) {}

  std::string read() {
    if (!copy_record(bytes_, 0, header_) || std::memcmp(header_.e_ident, ELFMAG, SELFMAG) != 0)
      return "no ELF file";
    if (header_.e_ident[EI_CLASS] != ELFCLASS64 || header_.e_machine != kMachine)
      return "ELF of another machine";
    if (header_.e_ident[EI_OSABI] != kOsAbi) return "OS ABI " + std::to_string(header_.e_ident[EI_OSABI]);
    if (header_.e_type != ET_DYN) return "ELF type " + std::to_string(header_.e_type) + ", not ET_DYN";
    image_.flags = header_.e_flags;
    std::string wrong = read_segments();
    for (unsigned at = 0; at < header_.e_shnum && wrong.empty(); at++) {
      Elf64_Shdr section{};
      if (!copy_record(bytes_, header_.e_shoff + std::uint64_t{at} * sizeof section, section))
        return "sections outside of the file";
      if (section.sh_type == SHT_DYNSYM) wrong = read_symbols(section);
      if (section.sh_type == SHT_RELA) wrong = read_relocations(section);
      if (section.sh_type == SHT_REL && section.sh_size != 0) wrong = "relocations without addends";
    }
    return wrong;
  }

 private:
  std::string read_segments() {
    for (unsigned at = 0; at < header_.e_phnum; at++) {
      Elf64_Phdr header{};
      if (!copy_record(bytes_, header_.e_phoff + std::uint64_t{at} * sizeof header, header))
        return "program headers outside of the file";
      if (header.p_type != PT_LOAD) continue;
      const std::uint64_t end = header.p_vaddr + header.p_memsz;
      if (!contains(bytes_, header.p_offset, header.p_filesz)) return "a segment outside of the file";
      if (header.p_filesz > header.p_memsz || end < header.p_vaddr || end > kImageBytesMax)
        return "a segment's sizes";
      image_.segments.push_back(
          {header.p_vaddr, header.p_memsz, bytes_.subspan(header.p_offset, header.p_filesz)});
      writable_.push_back((header.p_flags & PF_W) != 0);
      image_.bytes = std::max(image_.bytes, end);
    }
    return image_.segments.empty() ? "nothing to load" : "";
  }

  bool is_writable(std::uint64_t address) const {
    for (std::size_t at = 0; at < writable_.size(); at++) {
      const ElfSegment& segment = image_.segments[at];
      if (address >= segment.address && address < segment.address + segment.bytes) return writable_[at];
    }
    return true;
  }

  std::string read_symbols(const Elf64_Shdr& section) {
    Elf64_Shdr names{};
    if (!copy_record(bytes_, header_.e_shoff + std::uint64_t{section.sh_link} * sizeof names, names))
      return "no names of symbols";
    if (!contains(bytes_, names.sh_offset, names.sh_size)) return "names of symbols outside of the file";
    if (!contains(bytes_, section.sh_offset, section.sh_size)) return "symbols outside of the file";
    const auto strings = bytes_.subspan(names.sh_offset, names.sh_size);
    for (std::uint64_t at = 0; at + sizeof(Elf64_Sym) <= section.sh_size; at += sizeof(Elf64_Sym)) {
      Elf64_Sym symbol{};
      copy_record(bytes_, section.sh_offset + at, symbol);
      const bool defined = symbol.st_shndx != SHN_UNDEF;
      if (defined && (symbol.st_value > image_.bytes || symbol.st_size > image_.bytes - symbol.st_value))
        return "a symbol outside of the image";
      const auto type = static_cast<unsigned>(ELF64_ST_TYPE(symbol.st_info));
      const auto binding = static_cast<unsigned>(ELF64_ST_BIND(symbol.st_info));
      image_.symbols.push_back({text_at(strings, symbol.st_name), symbol.st_value, symbol.st_size, type,
                                binding, defined, is_writable(symbol.st_value)});
    }
    return {};
  }

  std::string read_relocations(const Elf64_Shdr& section) {
    if (!contains(bytes_, section.sh_offset, section.sh_size)) return "relocations outside of the file";
    if ((section.sh_flags & SHF_ALLOC) == 0) return {};  // the linker has applied them
    for (std::uint64_t at = 0; at + sizeof(Elf64_Rela) <= section.sh_size; at += sizeof(Elf64_Rela)) {
      Elf64_Rela record{};
      copy_record(bytes_, section.sh_offset + at, record);
      if (record.r_offset > image_.bytes || image_.bytes - record.r_offset < sizeof(std::uint64_t))
        return "a relocation outside of the image";
      image_.relocations.push_back({record.r_offset, static_cast<std::uint32_t>(ELF64_R_TYPE(record.r_info)),
                                    static_cast<std::uint32_t>(ELF64_R_SYM(record.r_info)), record.r_addend});
    }
    return {};
  }

  std::span<const char> bytes_;
  ElfImage& image_;
  Elf64_Ehdr header_{};
  std::vector<bool> writable_;  // by segment
};

}  // namespace

std::string ElfImage::read(std::span<const char> from) { return Reader(from, *this).read(); }

}  // namespace tf::amd::hsa
