// SPDX-License-Identifier: Apache-2.0
// A call of a function of any signature with arguments from a list.
#pragma once

#include <string>
#include <type_traits>
#include <utility>

#include "hipcore/errors/error_text.h"
#include "tests/differential/table.h"

namespace tf::differential {

template <typename Type>
Type take(const Value& value) {
  using Plain = std::remove_reference_t<Type>;
  if constexpr (std::is_pointer_v<Type>) {
    return reinterpret_cast<Type>(value.number);
  } else if constexpr (std::is_reference_v<Type>) {
    return *reinterpret_cast<Plain*>(value.bytes.data());
  } else if constexpr (std::is_arithmetic_v<Plain> || std::is_enum_v<Plain>) {
    return static_cast<Type>(value.number);
  } else {
    Plain result;
    static_assert(sizeof result <= sizeof value.bytes);
    std::memcpy(static_cast<void*>(&result), value.bytes.data(), sizeof result);
    return result;
  }
}

template <typename Result>
std::string text_of(Result result) {
  if constexpr (std::is_same_v<Result, hipError_t>)
    return hipdata::error_text(result).code == result ? hipdata::error_text(result).name
                                                      : std::to_string(result);
  else if constexpr (std::is_same_v<Result, const char*>)
    return result == nullptr ? "null" : result;
  else if constexpr (std::is_pointer_v<Result>)
    return result == nullptr ? "null" : "set";
  else if constexpr (std::is_class_v<Result>)
    return "struct";
  else
    return std::to_string(result);
}

template <typename Result, typename... Parameters, std::size_t... I>
std::string invoke_at(void* symbol, const Value* arguments, std::index_sequence<I...>) {
  auto* const function = reinterpret_cast<Result (*)(Parameters...)>(symbol);
  if constexpr (std::is_void_v<Result>) {
    function(take<Parameters>(arguments[I])...);
    return "void";
  } else {
    return text_of(function(take<Parameters>(arguments[I])...));
  }
}

template <typename Result, typename... Parameters>
std::string invoke(void* symbol, const Value* arguments) {
  return invoke_at<Result, Parameters...>(symbol, arguments, std::index_sequence_for<Parameters...>());
}

}  // namespace tf::differential
