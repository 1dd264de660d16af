// SPDX-License-Identifier: Apache-2.0
// Handles: 64-bit names of session objects. The client chooses them before the worker has heard of them.
//
//   bits 56..63  kind        HandleKind, never 0
//   bits 32..55  generation  changes when a slot is reused, so a stale handle is recognised
//   bits 0..31   slot        index + 1 into the session's table of that kind
//
// To the application a handle is the value of its hipStream_t, hipEvent_t, ... The three constants of HIP
// pass through: 0 (null stream), 1 (hipStreamLegacy), 2 (hipStreamPerThread).
#pragma once

#include <cstdint>

namespace tf::protocol {

enum class HandleKind : std::uint8_t {
  kStream = 1,
  kEvent = 2,
  kModule = 3,
  kFunction = 4,
  kGraph = 5,
  kGraphExec = 6,
  kGraphNode = 7,
  kMemPool = 8,
  kMemAllocation = 9,  // hipMemGenericAllocationHandle_t
  kArray = 10,
};
inline constexpr unsigned kHandleKinds = 16;

inline constexpr std::uint32_t kGenerationMask = 0xffffff;
inline constexpr std::uint32_t kHandleSlotsMax = 1u << 20;  // per kind and session

class Handle {
 public:
  constexpr Handle() = default;
  constexpr explicit Handle(std::uint64_t raw) : raw_(raw) {}
  constexpr Handle(HandleKind kind, std::uint32_t generation, std::uint32_t index)
      : raw_(static_cast<std::uint64_t>(kind) << 56 |
             static_cast<std::uint64_t>(generation & kGenerationMask) << 32 | (index + 1u)) {}

  constexpr std::uint64_t raw() const { return raw_; }
  constexpr HandleKind kind() const { return static_cast<HandleKind>(raw_ >> 56); }
  constexpr std::uint32_t generation() const {
    return static_cast<std::uint32_t>(raw_ >> 32) & kGenerationMask;
  }
  constexpr std::uint32_t index() const { return static_cast<std::uint32_t>(raw_) - 1u; }
  constexpr bool is_constant() const { return raw_ <= 2; }

 private:
  std::uint64_t raw_ = 0;
};

}  // namespace tf::protocol
