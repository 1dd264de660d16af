// SPDX-License-Identifier: Apache-2.0
// A pull reader for the part of MessagePack that kernel metadata needs. Input is hostile: every read is
// checked. Views point into the input. One thread at a time per Reader.
#pragma once

#include "hipcore/codeobject/bytes.h"
#include "transport/base/status.h"

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace tf::codeobject::msgpack {

inline constexpr std::size_t kMaxDepth = 32;  // nesting that skip() follows

enum class Kind : std::uint8_t { kNil, kBool, kInteger, kFloat, kString, kBinary, kArray, kMap, kExtension };

struct Value {
  Kind kind = Kind::kNil;
  bool boolean = false;
  bool negative = false;      // integer is the two's complement of a negative number
  std::uint64_t integer = 0;  // also the boolean's 0 or 1
  std::string_view text;      // kString, kBinary, kExtension
  std::uint32_t count = 0;    // kArray: elements that follow; kMap: pairs that follow
};

class Reader {
 public:
  explicit Reader(Bytes input) : input_(input) {}

  // The next value. For an array or map, only its head.
  Result<Value> next();
  // Skips one whole value, with everything inside it.
  Status skip();
  // next(), which fails unless the value is of this kind.
  Result<Value> expect(Kind kind);
  bool at_end() const { return position_ == input_.size(); }

 private:
  Result<std::uint64_t> big_endian(std::size_t bytes);
  Result<Value> text(Kind kind, std::uint64_t bytes);
  Result<Value> sized_text(Kind kind, std::size_t length_bytes, std::size_t extra);
  Result<Value> head(Kind kind, std::uint64_t count);
  Result<Value> sized_head(Kind kind, std::size_t length_bytes);
  Result<Value> number(std::uint8_t tag);
  Status skip_below(std::size_t depth);

  Bytes input_;
  std::size_t position_ = 0;
};

}  // namespace tf::codeobject::msgpack
