// SPDX-License-Identifier: Apache-2.0
// Status and Result<T>: how every fallible function of the project below the HIP edge reports failure.
//
// The message is written once, at the place that knows what happened, and says what was wrong and, where that
// helps, what is possible. kWouldBlock is a status, not an error: the peer is behind, make progress and try
// again. Values may be copied between threads; one object is not thread-safe. A Status without a message
// allocates nothing: on the hot path every message returns ok().
#pragma once

#include <cstdint>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>

namespace tf {

enum class Code : std::uint8_t {
  kOk = 0,
  kWouldBlock,         // nothing wrong: no room or nothing to read right now
  kInvalidArgument,    // the caller made a mistake
  kUnavailable,        // present in the build, unusable on this machine or not listening
  kUnsupported,        // this implementation lacks the operation
  kTimeout,            // a deadline passed
  kClosed,             // closed by this side
  kPeerLost,           // the other side died or the connection broke
  kProtocol,           // the other side sent something that no correct peer sends
  kResourceExhausted,  // a named limit was reached
  kPermission,         // refused: credentials, key, or the kernel forbids it
  kInternal,           // a bug of ours
};

std::string_view name(Code code);

class [[nodiscard]] Status {
 public:
  Status() = default;
  explicit Status(Code code) : code_(code) {}
  Status(Code code, std::string message) : code_(code), message_(keep({std::move(message), 0})) {}
  // `reason`: a number whose meaning the two users of the operation agree on.
  Status(Code code, std::string message, std::uint32_t reason)
      : code_(code), message_(keep({std::move(message), reason})) {}
  Status(const Status& other) : code_(other.code_), message_(copy(other.message_)) {}
  Status(Status&&) noexcept = default;
  Status& operator=(const Status& other) {
    code_ = other.code_;
    message_ = copy(other.message_);
    return *this;
  }
  Status& operator=(Status&&) noexcept = default;
  ~Status() = default;

  static Status ok() { return {}; }
  // Builds "<what>: <strerror(error_number)>", adds which limit was reached, and picks the code for that
  // errno.
  static Status from_errno(std::string_view what, int error_number);

  bool is_ok() const { return code_ == Code::kOk; }
  explicit operator bool() const { return is_ok(); }
  Code code() const { return code_; }
  const std::string& message() const;
  std::uint32_t reason() const { return message_ == nullptr ? 0 : message_->reason; }  // 0: none
  // "peer lost: the worker closed the queue lane"
  std::string to_string() const;

 private:
  struct Words {
    std::string text;
    std::uint32_t reason = 0;
  };
  using Message = std::unique_ptr<const Words>;  // null: no text and no reason
  static Message keep(Words words) {
    const bool none = words.text.empty() && words.reason == 0;
    return none ? nullptr : std::make_unique<const Words>(std::move(words));
  }
  static Message copy(const Message& other) {
    return other == nullptr ? nullptr : std::make_unique<const Words>(*other);
  }

  Code code_ = Code::kOk;
  Message message_;
};

inline Status would_block() { return Status(Code::kWouldBlock); }
inline Status invalid_argument(std::string why) { return {Code::kInvalidArgument, std::move(why)}; }

// A value or the Status that explains its absence (std::expected is missing in clang 14).
template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}         // NOLINT: implicit on purpose
  Result(Status status) : state_(std::in_place_index<1>, std::move(status)) {}  // NOLINT: REQUIRES: not ok

  bool is_ok() const { return state_.index() == 0; }
  explicit operator bool() const { return is_ok(); }
  // REQUIRES: is_ok()
  T& value() & { return *std::get_if<0>(&state_); }
  const T& value() const& { return *std::get_if<0>(&state_); }
  T&& value() && { return std::move(*std::get_if<0>(&state_)); }
  T* operator->() { return std::get_if<0>(&state_); }
  T& operator*() & { return value(); }
  // Ok when there is a value.
  Status status() const { return is_ok() ? Status::ok() : *std::get_if<1>(&state_); }
  Code code() const { return is_ok() ? Code::kOk : std::get_if<1>(&state_)->code(); }

 private:
  std::variant<T, Status> state_;
};

}  // namespace tf

// Returns from the enclosing function if `expression` (a Status) failed, with that failure.
#define TF_RETURN_IF_ERROR(expression)                                                  \
  do {                                                                                  \
    if (::tf::Status tf_status_ = (expression); !tf_status_.is_ok()) return tf_status_; \
  } while (false)
