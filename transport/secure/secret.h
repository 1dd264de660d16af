// SPDX-License-Identifier: Apache-2.0
// Secret: bytes that are wiped when their owner ends, and compared in constant time. Never logged.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace tf::secure {

// Whether both are the same. The time depends on the sizes only.
inline bool same(std::span<const std::uint8_t> one, std::span<const std::uint8_t> other) {
  if (one.size() != other.size()) return false;
  volatile std::uint8_t differs = 0;
  for (std::size_t index = 0; index < one.size(); ++index)
    differs = static_cast<std::uint8_t>(differs | (one[index] ^ other[index]));
  return differs == 0;
}

template <std::size_t kBytes>
class Secret {
 public:
  Secret() = default;
  Secret(const Secret&) = default;
  Secret& operator=(const Secret&) = default;
  ~Secret() { ::explicit_bzero(bytes_.data(), bytes_.size()); }

  static constexpr std::size_t size() { return kBytes; }
  std::uint8_t* data() { return bytes_.data(); }
  const std::uint8_t* data() const { return bytes_.data(); }
  std::span<std::uint8_t, kBytes> bytes() { return bytes_; }
  std::span<const std::uint8_t, kBytes> bytes() const { return bytes_; }
  friend bool operator==(const Secret& one, const Secret& other) { return same(one.bytes(), other.bytes()); }

 private:
  std::array<std::uint8_t, kBytes> bytes_{};
};

using Secret32 = Secret<32>;

}  // namespace tf::secure
