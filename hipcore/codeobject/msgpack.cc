// SPDX-License-Identifier: Apache-2.0
// MessagePack reading; see msgpack.h.
#include "hipcore/codeobject/msgpack.h"

namespace tf::codeobject::msgpack {
namespace {
Status truncated() { return {Code::kProtocol, "MessagePack: cut off in the middle of a value"}; }
}  // namespace

Result<std::uint64_t> Reader::big_endian(std::size_t bytes) {
  const auto part = slice(input_, position_, bytes);
  if (!part) return truncated();
  position_ += bytes;
  std::uint64_t value = 0;
  for (const std::byte b : *part) value = value << 8 | std::to_integer<std::uint64_t>(b);
  return value;
}

Result<Value> Reader::text(Kind kind, std::uint64_t bytes) {
  const auto part = slice(input_, position_, bytes);
  if (!part) return truncated();
  position_ += part->size();
  Value value;
  value.kind = kind;
  value.text = {reinterpret_cast<const char*>(part->data()), part->size()};
  return value;
}

Result<Value> Reader::sized_text(Kind kind, std::size_t length_bytes, std::size_t extra) {
  auto bytes = big_endian(length_bytes);
  if (!bytes) return bytes.status();
  return text(kind, *bytes + extra);
}

Result<Value> Reader::head(Kind kind, std::uint64_t count) {
  // Every element takes at least one byte: a larger count is a lie, and must not size anything.
  if (count > input_.size() - position_) return truncated();
  Value value;
  value.kind = kind;
  value.count = static_cast<std::uint32_t>(count);
  return value;
}

Result<Value> Reader::sized_head(Kind kind, std::size_t length_bytes) {
  auto count = big_endian(length_bytes);
  if (!count) return count.status();
  return head(kind, *count);
}

Result<Value> Reader::number(std::uint8_t tag) {
  const std::size_t bytes = std::size_t{1} << (tag & 3);
  auto raw = big_endian(bytes);
  if (!raw) return raw.status();
  Value value;
  value.kind = Kind::kInteger;
  value.integer = *raw;
  const bool is_signed = tag >= 0xd0;
  if (is_signed && bytes < 8 && (*raw >> (bytes * 8 - 1)) != 0)
    value.integer |= ~std::uint64_t{0} << (bytes * 8);
  value.negative = is_signed && (value.integer >> 63) != 0;
  return value;
}

Result<Value> Reader::next() {
  auto first = big_endian(1);
  if (!first) return first.status();
  const auto tag = static_cast<std::uint8_t>(*first);
  Value value;
  if (tag <= 0x7f || tag >= 0xe0) {
    value.kind = Kind::kInteger;
    value.negative = tag >= 0xe0;
    value.integer = value.negative ? ~std::uint64_t{0xff} | tag : tag;
    return value;
  }
  if (tag <= 0x8f) return head(Kind::kMap, tag & 0x0f);
  if (tag <= 0x9f) return head(Kind::kArray, tag & 0x0f);
  if (tag <= 0xbf) return text(Kind::kString, tag & 0x1f);
  if (tag >= 0xcc && tag <= 0xd3) return number(tag);
  switch (tag) {
    case 0xc0: return value;
    case 0xc2:
    case 0xc3:
      value.kind = Kind::kBool;
      value.boolean = tag == 0xc3;
      value.integer = tag & 1;
      return value;
    case 0xc4:
    case 0xc5:
    case 0xc6: return sized_text(Kind::kBinary, std::size_t{1} << (tag - 0xc4), 0);
    case 0xc7:
    case 0xc8:
    case 0xc9: return sized_text(Kind::kExtension, std::size_t{1} << (tag - 0xc7), 1);
    case 0xca: return text(Kind::kFloat, 4);
    case 0xcb: return text(Kind::kFloat, 8);
    case 0xd4:
    case 0xd5:
    case 0xd6:
    case 0xd7:
    case 0xd8: return text(Kind::kExtension, (std::uint64_t{1} << (tag - 0xd4)) + 1);
    case 0xd9:
    case 0xda:
    case 0xdb: return sized_text(Kind::kString, std::size_t{1} << (tag - 0xd9), 0);
    case 0xdc:
    case 0xdd: return sized_head(Kind::kArray, std::size_t{2} << (tag - 0xdc));
    case 0xde:
    case 0xdf: return sized_head(Kind::kMap, std::size_t{2} << (tag - 0xde));
    default: return Status{Code::kProtocol, "MessagePack: the reserved byte 0xc1"};
  }
}

Status Reader::skip() { return skip_below(0); }

Status Reader::skip_below(std::size_t depth) {
  if (depth > kMaxDepth) return {Code::kResourceExhausted, "MessagePack: nested more than 32 deep"};
  auto value = next();
  if (!value) return value.status();
  std::uint64_t inside = 0;
  if (value->kind == Kind::kArray) inside = value->count;
  if (value->kind == Kind::kMap) inside = std::uint64_t{value->count} * 2;
  for (std::uint64_t i = 0; i < inside; ++i) TF_RETURN_IF_ERROR(skip_below(depth + 1));
  return Status::ok();
}

Result<Value> Reader::expect(Kind kind) {
  auto value = next();
  if (value && value->kind != kind)
    return Status{Code::kProtocol, "MessagePack: a value of another kind than expected"};
  return value;
}

}  // namespace tf::codeobject::msgpack
