// SPDX-License-Identifier: Apache-2.0
// The checked reads and writes of messages that are not one fixed struct.
#include "transport/base/codec.h"

namespace tf {

// --- Writer ---------------------------------------------------------------------------------------------

void Writer::bytes(std::span<const std::byte> value) {
  if (!status_.is_ok()) return;
  if (value.size() > target_.size() - used_) {
    status_ = {Code::kResourceExhausted,
               "the encoded message does not fit its " + std::to_string(target_.size()) + " bytes"};
    return;
  }
  if (!value.empty()) std::memcpy(target_.data() + used_, value.data(), value.size());
  used_ += value.size();
}

void Writer::count(std::size_t elements, std::size_t elements_max) {
  if (!status_.is_ok()) return;
  if (elements > elements_max || elements > UINT32_MAX) {
    status_ = {Code::kInvalidArgument, std::to_string(elements) + " elements where at most " +
                                           std::to_string(elements_max) + " are allowed"};
    return;
  }
  put(static_cast<std::uint32_t>(elements));
}

void Writer::text(std::string_view value, std::size_t bytes_max) {
  count(value.size(), bytes_max);
  bytes(std::as_bytes(std::span(value.data(), value.size())));
}

// --- Reader ---------------------------------------------------------------------------------------------

bool Reader::need(std::size_t bytes, std::string_view what) {
  if (!status_.is_ok()) return false;
  if (bytes <= remaining()) return true;
  status_ = {Code::kProtocol, "message cut short: " + std::string(what) + " of " + std::to_string(bytes) +
                                  " bytes at offset " + std::to_string(used_) + " of " +
                                  std::to_string(source_.size())};
  return false;
}

void Reader::bytes(std::span<std::byte> target) {
  if (target.empty() || !need(target.size(), "field")) return;
  std::memcpy(target.data(), source_.data() + used_, target.size());
  used_ += target.size();
}

bool Reader::flag() {
  const auto value = get<std::uint32_t>();
  if (value > 1) reject("a flag that is neither 0 nor 1");
  return value == 1;
}

std::size_t Reader::count(std::size_t elements_max, std::size_t element_bytes) {
  const std::size_t elements = get<std::uint32_t>();
  if (!status_.is_ok()) return 0;
  if (elements > elements_max) {
    reject("a count of " + std::to_string(elements) + ", the limit is " + std::to_string(elements_max));
    return 0;
  }
  return need(elements * element_bytes, "array") ? elements : 0;
}

std::string Reader::text(std::size_t bytes_max) {
  std::string value(count(bytes_max, 1), '\0');
  bytes(std::as_writable_bytes(std::span(value.data(), value.size())));
  return value;
}

void Reader::reject(std::string_view why) {
  if (!status_.is_ok()) return;
  status_ = {Code::kProtocol, "message has " + std::string(why) + " before offset " + std::to_string(used_)};
}

Status Reader::finish() {
  if (status_.is_ok() && remaining() != 0)
    status_ = {Code::kProtocol, std::to_string(remaining()) + " bytes follow the end of the message"};
  return status_;
}

}  // namespace tf
