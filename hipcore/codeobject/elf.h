// SPDX-License-Identifier: Apache-2.0
// ELF64 little-endian images: size, notes and dynamic symbols. Input is hostile. Views point into the input,
// which must outlive them. Immutable after parse(): any thread.
#pragma once

#include "hipcore/codeobject/bytes.h"
#include "transport/base/status.h"

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace tf::codeobject {

inline constexpr std::uint16_t kMachineX86_64 = 62;

struct Note {
  std::string_view owner;
  std::uint32_t type = 0;
  Bytes description;
};

struct Symbol {
  std::string_view name;
  std::uint64_t value = 0;
  std::uint64_t size = 0;
  std::uint8_t type = 0;  // STT_OBJECT, STT_FUNC, ...
  bool defined = false;
};

class Elf {
 public:
  static bool has_magic(Bytes image);
  // The image's length, from its headers. REQUIRES: `image` points to a whole image, as hipModuleLoadData
  // promises; its header alone decides how far we read.
  static Result<std::uint64_t> extent(const void* image);
  // The same, reading nothing outside `image`. kProtocol if its headers, sections or segments lie outside: it
  // is truncated, or lies about its size.
  static Result<std::uint64_t> extent(Bytes image);
  static Result<Elf> parse(Bytes image);

  std::uint16_t machine() const { return machine_; }
  std::uint32_t flags() const { return flags_; }
  const std::vector<Note>& notes() const { return notes_; }
  // The dynamic symbol table, in file order, without the null symbol.
  const std::vector<Symbol>& symbols() const { return symbols_; }
  std::optional<Symbol> find(std::string_view name) const;

 private:
  Status read_notes(Bytes image, std::uint64_t offset, std::uint64_t bytes, std::uint64_t align);
  Status read_symbols(Bytes section, Bytes strings);
  Status read_sections(Bytes image);
  Status read_segments(Bytes image);

  std::uint16_t machine_ = 0;
  std::uint32_t flags_ = 0;
  std::vector<Note> notes_;
  std::vector<Symbol> symbols_;
};

}  // namespace tf::codeobject
