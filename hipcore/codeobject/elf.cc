// SPDX-License-Identifier: Apache-2.0
// ELF64 reading; see elf.h. Offsets below are those of the ELF64 structures (System V ABI).
#include "hipcore/codeobject/elf.h"

#include <elf.h>

#include <algorithm>

namespace tf::codeobject {
namespace {

constexpr std::size_t kMaxNotes = 1 << 16;  // rocBLAS's code objects have a note for each kernel: 14,080
constexpr std::size_t kMaxSymbols = 1 << 20;

Status malformed_elf(const char* what) { return {Code::kProtocol, std::string("ELF: ") + what}; }

Status check_header(const Elf64_Ehdr& header) {
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) return malformed_elf("no ELF magic");
  if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB) {
    return malformed_elf("not 64-bit little-endian");
  }
  if (header.e_shnum != 0 && header.e_shentsize != sizeof(Elf64_Shdr))
    return malformed_elf("section header size");
  if (header.e_phnum != 0 && header.e_phentsize != sizeof(Elf64_Phdr))
    return malformed_elf("program header size");
  return Status::ok();
}

// Grows `end` to offset + size; refuses what lies beyond `limit`.
Status reach(std::uint64_t& end, std::uint64_t offset, std::uint64_t size, std::uint64_t limit) {
  if (offset > limit || size > limit - offset) return malformed_elf("a part lies outside the image");
  end = std::max(end, offset + size);
  return Status::ok();
}

std::uint64_t round_up(std::uint64_t value, std::uint64_t align) {
  return (value + align - 1) / align * align;
}

std::string_view string_at(Bytes strings, std::uint64_t offset) {
  if (offset >= strings.size()) return {};
  const char* begin = reinterpret_cast<const char*>(strings.data()) + offset;
  const std::size_t room = strings.size() - static_cast<std::size_t>(offset);
  const void* nul = std::memchr(begin, 0, room);
  return nul == nullptr ? std::string_view{} : std::string_view(begin, static_cast<const char*>(nul) - begin);
}

}  // namespace

bool Elf::has_magic(Bytes image) {
  return image.size() >= sizeof(Elf64_Ehdr) && std::memcmp(image.data(), ELFMAG, SELFMAG) == 0;
}

Result<std::uint64_t> Elf::extent(const void* image) {
  return extent(Bytes{static_cast<const std::byte*>(image), static_cast<std::size_t>(kMaxImageBytes)});
}

Result<std::uint64_t> Elf::extent(Bytes image) {
  if (image.size() < sizeof(Elf64_Ehdr)) return malformed_elf("shorter than a header");
  const auto header = load<Elf64_Ehdr>(image, 0);
  TF_RETURN_IF_ERROR(check_header(header));
  const auto sections =
      slice(image, header.e_shnum != 0 ? header.e_shoff : 0, header.e_shnum * sizeof(Elf64_Shdr));
  const auto segments =
      slice(image, header.e_phnum != 0 ? header.e_phoff : 0, header.e_phnum * sizeof(Elf64_Phdr));
  if (!sections || !segments) return malformed_elf("the header tables lie outside");
  std::uint64_t end = sizeof header;
  if (!sections->empty()) TF_RETURN_IF_ERROR(reach(end, header.e_shoff, sections->size(), image.size()));
  if (!segments->empty()) TF_RETURN_IF_ERROR(reach(end, header.e_phoff, segments->size(), image.size()));
  for (std::size_t i = 0; i < header.e_shnum; ++i) {
    const auto section = load<Elf64_Shdr>(*sections, i * sizeof(Elf64_Shdr));
    if (section.sh_type == SHT_NOBITS || section.sh_type == SHT_NULL) continue;
    TF_RETURN_IF_ERROR(reach(end, section.sh_offset, section.sh_size, image.size()));
  }
  for (std::size_t i = 0; i < header.e_phnum; ++i) {
    const auto segment = load<Elf64_Phdr>(*segments, i * sizeof(Elf64_Phdr));
    if (segment.p_filesz == 0) continue;
    TF_RETURN_IF_ERROR(reach(end, segment.p_offset, segment.p_filesz, image.size()));
  }
  return end;
}

Result<Elf> Elf::parse(Bytes image) {
  if (image.size() < sizeof(Elf64_Ehdr)) return malformed_elf("shorter than a header");
  const auto header = load<Elf64_Ehdr>(image, 0);
  TF_RETURN_IF_ERROR(check_header(header));
  Elf elf;
  elf.machine_ = header.e_machine;
  elf.flags_ = header.e_flags;
  TF_RETURN_IF_ERROR(elf.read_segments(image));
  TF_RETURN_IF_ERROR(elf.read_sections(image));
  return elf;
}

// Notes are read from the segments; only an image without them (a relocatable one) from the sections.
Status Elf::read_segments(Bytes image) {
  const auto header = load<Elf64_Ehdr>(image, 0);
  const auto table = slice(image, header.e_phoff, std::uint64_t{header.e_phnum} * sizeof(Elf64_Phdr));
  if (header.e_phnum != 0 && !table) return malformed_elf("program headers lie outside");
  for (std::uint32_t i = 0; i < header.e_phnum; ++i) {
    const auto segment = load<Elf64_Phdr>(*table, i * sizeof(Elf64_Phdr));
    if (segment.p_type != PT_NOTE) continue;
    TF_RETURN_IF_ERROR(read_notes(image, segment.p_offset, segment.p_filesz, segment.p_align));
  }
  return Status::ok();
}

Status Elf::read_sections(Bytes image) {
  const auto header = load<Elf64_Ehdr>(image, 0);
  const auto table = slice(image, header.e_shoff, std::uint64_t{header.e_shnum} * sizeof(Elf64_Shdr));
  if (header.e_shnum != 0 && !table) return malformed_elf("section headers lie outside");
  const bool want_notes = notes_.empty();
  for (std::uint32_t i = 0; i < header.e_shnum; ++i) {
    const auto section = load<Elf64_Shdr>(*table, i * sizeof(Elf64_Shdr));
    if (section.sh_type == SHT_NOTE && want_notes) {
      TF_RETURN_IF_ERROR(read_notes(image, section.sh_offset, section.sh_size, section.sh_addralign));
    }
    if (section.sh_type != SHT_DYNSYM) continue;
    if (section.sh_link >= header.e_shnum) return malformed_elf("symbol table without strings");
    const auto linked = load<Elf64_Shdr>(*table, section.sh_link * sizeof(Elf64_Shdr));
    const auto symbols = slice(image, section.sh_offset, section.sh_size);
    const auto strings = slice(image, linked.sh_offset, linked.sh_size);
    if (!symbols || !strings) return malformed_elf("symbols lie outside");
    TF_RETURN_IF_ERROR(read_symbols(*symbols, *strings));
  }
  return Status::ok();
}

Status Elf::read_notes(Bytes image, std::uint64_t offset, std::uint64_t bytes, std::uint64_t align) {
  const auto area = slice(image, offset, bytes);
  if (!area) return malformed_elf("notes lie outside");
  const std::uint64_t unit = align == 8 ? 8 : 4;
  std::uint64_t at = 0;
  while (at + sizeof(Elf64_Nhdr) <= area->size()) {
    const auto head = load<Elf64_Nhdr>(*area, static_cast<std::size_t>(at));
    const std::uint64_t name_at = at + sizeof head;
    const std::uint64_t body_at = round_up(name_at + head.n_namesz, unit);
    const auto name = slice(*area, name_at, head.n_namesz);
    const auto body = slice(*area, body_at, head.n_descsz);
    if (!name || !body) return malformed_elf("a note is cut off");
    if (notes_.size() >= kMaxNotes) return {Code::kResourceExhausted, "ELF: more than 65536 notes"};
    std::string_view owner(reinterpret_cast<const char*>(name->data()), name->size());
    if (!owner.empty() && owner.back() == '\0') owner.remove_suffix(1);
    notes_.push_back({owner, head.n_type, *body});
    at = round_up(body_at + head.n_descsz, unit);
  }
  return Status::ok();
}

Status Elf::read_symbols(Bytes section, Bytes strings) {
  const std::size_t count = section.size() / sizeof(Elf64_Sym);
  if (symbols_.size() + count > kMaxSymbols)
    return {Code::kResourceExhausted, "ELF: more than a million symbols"};
  for (std::size_t i = 1; i < count; ++i) {
    const auto raw = load<Elf64_Sym>(section, i * sizeof(Elf64_Sym));
    const auto type = static_cast<std::uint8_t>(ELF64_ST_TYPE(raw.st_info));
    symbols_.push_back(
        {string_at(strings, raw.st_name), raw.st_value, raw.st_size, type, raw.st_shndx != SHN_UNDEF});
  }
  return Status::ok();
}

std::optional<Symbol> Elf::find(std::string_view name) const {
  const auto found = std::find_if(symbols_.begin(), symbols_.end(),
                                  [name](const Symbol& s) { return s.defined && s.name == name; });
  if (found == symbols_.end()) return std::nullopt;
  return *found;
}

}  // namespace tf::codeobject
