// SPDX-License-Identifier: Apache-2.0
// AddressWindow reservation: keeps this process from using the worker's device addresses itself, so a host
// pointer cannot look like a device pointer. Released with the object.
#pragma once

#include <cstdint>
#include <utility>

#include "transport/base/status.h"

namespace tf::proxy {

// False in a program under the thread sanitizer, for addresses that it does not allow.
bool may_map(std::uint64_t base, std::uint64_t bytes);

class ReservedWindow {
 public:
  ReservedWindow() = default;
  ReservedWindow(ReservedWindow&& other) noexcept
      : base_(std::exchange(other.base_, 0)), bytes_(std::exchange(other.bytes_, 0)) {}
  ReservedWindow& operator=(ReservedWindow&& other) noexcept {
    std::swap(base_, other.base_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~ReservedWindow();

  // False: nothing is reserved.
  explicit operator bool() const { return bytes_ != 0; }

  // Maps [base, base + bytes) without access rights. Fails if this process already uses part of it. In a
  // program under the thread sanitizer nothing is mapped; it never uses such addresses.
  static Result<ReservedWindow> reserve(std::uint64_t base, std::uint64_t bytes);

 private:
  std::uint64_t base_ = 0;
  std::uint64_t bytes_ = 0;
};

}  // namespace tf::proxy
