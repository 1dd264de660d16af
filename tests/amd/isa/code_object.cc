// SPDX-License-Identifier: Apache-2.0
// Loads a code object that the tests' own compiler made; what is damaged is refused only as far as tests need
// it.
#include "tests/amd/isa/code_object.h"

#include <elf.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>

namespace tf::amd::isa {

std::optional<AddressSpace::Range> TestMemory::find(std::uint64_t address) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  auto above = ranges_.upper_bound(address);
  if (above == ranges_.begin()) return std::nullopt;
  const Range& range = std::prev(above)->second;
  return address < range.end ? std::optional<Range>(range) : std::nullopt;
}

void TestMemory::add(const void* begin, std::size_t bytes, bool writable) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto address = reinterpret_cast<std::uint64_t>(begin);
  ranges_[address] = Range{address, address + bytes, writable};
}

void TestMemory::remove(const void* begin) {
  const std::lock_guard<std::mutex> lock(mutex_);
  ranges_.erase(reinterpret_cast<std::uint64_t>(begin));
  ++generation_;
}

namespace {

template <class T>
std::optional<T> read(const std::string& bytes, std::uint64_t offset) {
  if (offset > bytes.size() || sizeof(T) > bytes.size() - offset) return std::nullopt;
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

}  // namespace

std::unique_ptr<CodeObject> CodeObject::load(const std::string& path, TestMemory& memory) {
  std::ifstream file(path, std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  const auto header = read<Elf64_Ehdr>(bytes, 0);
  if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0) return nullptr;
  constexpr std::size_t kPage = 4096;
  std::size_t size = 0;
  std::vector<Elf64_Phdr> segments;
  for (int i = 0; i < header->e_phnum; ++i) {
    const auto segment = read<Elf64_Phdr>(bytes, header->e_phoff + std::uint64_t{sizeof(Elf64_Phdr)} * i);
    if (!segment || segment->p_type != PT_LOAD) continue;
    if (segment->p_offset > bytes.size() || segment->p_filesz > bytes.size() - segment->p_offset)
      return nullptr;
    segments.push_back(*segment);
    size = std::max<std::size_t>(size, segment->p_vaddr + segment->p_memsz);
  }
  if (size == 0 || size > (std::size_t{1} << 30)) return nullptr;
  auto object = std::make_unique<CodeObject>();
  object->image_ = std::make_unique<std::uint8_t[]>(size + kPage);
  const auto start = (reinterpret_cast<std::uint64_t>(object->image_.get()) + kPage - 1) / kPage * kPage;
  auto* base = reinterpret_cast<std::uint8_t*>(start);
  for (const Elf64_Phdr& segment : segments) {
    std::memcpy(base + segment.p_vaddr, bytes.data() + segment.p_offset, segment.p_filesz);
  }
  memory.add(base, size);
  for (int i = 0; i < header->e_shnum; ++i) {
    const auto section = read<Elf64_Shdr>(bytes, header->e_shoff + std::uint64_t{sizeof(Elf64_Shdr)} * i);
    if (!section) continue;
    if ((section->sh_flags & SHF_EXECINSTR) != 0)
      object->text_.push_back({start + section->sh_addr, section->sh_size});
    if (section->sh_type != SHT_DYNSYM) continue;
    const auto names =
        read<Elf64_Shdr>(bytes, header->e_shoff + std::uint64_t{sizeof(Elf64_Shdr)} * section->sh_link);
    for (std::uint64_t at = 0; names && at + sizeof(Elf64_Sym) <= section->sh_size; at += sizeof(Elf64_Sym)) {
      const auto symbol = read<Elf64_Sym>(bytes, section->sh_offset + at);
      if (!symbol || names->sh_offset + symbol->st_name >= bytes.size()) continue;
      object->symbols_[bytes.c_str() + names->sh_offset + symbol->st_name] = start + symbol->st_value;
    }
  }
  return object;
}

const void* CodeObject::kernel(const std::string& name) const {
  const auto found = symbols_.find(name + ".kd");
  return found == symbols_.end() ? nullptr : reinterpret_cast<const void*>(found->second);
}

}  // namespace tf::amd::isa
