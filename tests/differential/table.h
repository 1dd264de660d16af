// SPDX-License-Identifier: Apache-2.0
// The calls that are compared: tools/apigen/emit_differential.py makes the table from proxy/api and
// values.txt.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>

namespace tf::differential {

// An argument: a number or a pointer, or the bytes of a struct that is passed by value or by reference.
struct Value {
  std::uintptr_t number = 0;
  alignas(16) std::array<std::byte, 128> bytes{};
};

inline Value number(std::uintptr_t number) { return Value{number, {}}; }
inline Value pointer(const volatile void* pointer) {
  return Value{reinterpret_cast<std::uintptr_t>(pointer), {}};
}
template <typename Struct>
Value by_value(const Struct& value) {
  static_assert(sizeof value <= sizeof(Value::bytes));
  Value result;
  std::memcpy(result.bytes.data(), &value, sizeof value);
  return result;
}

struct Argument {
  const char* name;
  const char* value;  // of the valid call
  const char* cases;  // what replaces it, one after the other; blanks between them
  const char* shown;  // OUT: "4", "8", "handle", "text", "written"; else ""
};

struct Function {
  const char* name;
  const char* symbol;
  const char* majors;                                           // "567": whose libraries have it
  bool is_alone;                                                // changes what other calls of the process see
  bool varies;                                                  // its result is not compared
  std::string (*invoke)(void* symbol, const Value* arguments);  // the result as text
  std::span<const Argument> arguments;
};

std::span<const Function> functions();

}  // namespace tf::differential
