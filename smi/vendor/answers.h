// SPDX-License-Identifier: Apache-2.0
// What the exported functions of vendors' libraries have in common: the session, checks, and answers.
//
// `Vendor` says what differs: Code, Handle (of a device), index_of(Handle) (-1: none), no_device(Handle) (the
// code for it), kNoHandle (only that there is a session is checked), and the vendor's codes under our names.
// Nothing here throws.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <limits>
#include <new>
#include <string>

#include "hipcore/smi/values.h"
#include "proxy/base/log.h"
#include "smi/client/process.h"
#include "transport/base/status.h"

namespace tf::smi {

template <typename Vendor>
struct Answers {
  using Code = typename Vendor::Code;
  using Handle = typename Vendor::Handle;

  // The vendor's code for a failure of ours.
  static Code code_of(const Status& status) {
    switch (status.code()) {
      case tf::Code::kOk: return Vendor::kSuccess;
      case tf::Code::kInvalidArgument: return Vendor::kInvalidArguments;
      case tf::Code::kUnsupported: return Vendor::kNotSupported;
      case tf::Code::kPermission: return Vendor::kPermission;
      case tf::Code::kResourceExhausted: return Vendor::kOutOfResources;
      case tf::Code::kUnavailable: return Vendor::kInitError;
      default: return Vendor::kUnknownError;
    }
  }

  // `body` returns a code; what it throws becomes one.
  template <typename Body>
  static Code guarded(Body body) {
    try {
      return body();
    } catch (const std::bad_alloc&) {
      return Vendor::kOutOfResources;
    } catch (const std::exception&) {
      return Vendor::kInternalException;
    }
  }

  static Code count_devices(std::uint32_t& count) {
    return code_of(with_remote([&](Remote& remote) {
      count = static_cast<std::uint32_t>(remote.device_count());
      return Status::ok();
    }));
  }

  static Code find(Handle device, int& index) {
    std::uint32_t count = 0;
    if (const Code code = count_devices(count); code != Vendor::kSuccess) return code;
    index = Vendor::index_of(device);
    return index >= 0 && static_cast<std::uint32_t>(index) < count ? Vendor::kSuccess
                                                                   : Vendor::no_device(device);
  }

  static Code read_sample(Handle device, Sample& sample) {
    int index = 0;
    if (const Code code = find(device, index); code != Vendor::kSuccess) return code;
    return code_of(with_remote([&](Remote& remote) { return remote.sample(index, sample); }));
  }

  static Code read_facts(Handle device, Facts& facts) {
    int index = 0;
    if (const Code code = find(device, index); code != Vendor::kSuccess) return code;
    return code_of(with_remote([&](Remote& remote) { return remote.describe(index, facts); }));
  }

  static Code read_both(Handle device, Facts& facts, Sample& sample) {
    const Code code = read_facts(device, facts);
    return code == Vendor::kSuccess ? read_sample(device, sample) : code;
  }

  static Code read_link(Handle from, Handle to, Link& link) {
    int first = 0;
    int second = 0;
    Code code = find(from, first);
    if (code == Vendor::kSuccess) code = find(to, second);
    if (code != Vendor::kSuccess) return code;
    return code_of(with_remote([&](Remote& remote) { return remote.find_link(first, second, link); }));
  }

  // Hands out what is known: kNotSupported if it is not, kInvalidArguments if nobody wants it.
  template <typename Value>
  static Code answer(std::uint64_t number, Value* value) {
    if (!is_known(number)) return Vendor::kNotSupported;
    if (value == nullptr) return Vendor::kInvalidArguments;
    if constexpr (sizeof(Value) < sizeof number)
      if (number > static_cast<std::uint64_t>(std::numeric_limits<Value>::max()))
        return Vendor::kNotSupported;
    *value = static_cast<Value>(number);
    return Vendor::kSuccess;
  }

  template <typename Value>
  static Code sampled(Handle device, std::uint32_t sensor, std::uint64_t Sample::*field, Value* value) {
    return guarded([&] {
      Sample sample;
      const Code code = read_sample(device, sample);
      if (code != Vendor::kSuccess) return code;
      return answer(sensor == 0 ? sample.*field : kUnknown, value);
    });
  }

  template <typename Value>
  static Code described(Handle device, std::uint32_t sensor, std::uint64_t Facts::*field, Value* value) {
    return guarded([&] {
      Facts facts;
      const Code code = read_facts(device, facts);
      if (code != Vendor::kSuccess) return code;
      return answer(sensor == 0 ? facts.*field : kUnknown, value);
    });
  }

  // Terminated always; kInsufficientSize: cut.
  static Code write_text(const std::string& text, char* to, std::size_t bytes) {
    if (to == nullptr || bytes == 0) return Vendor::kInvalidArguments;
    const std::size_t length = std::min(text.size(), bytes - 1);
    std::memcpy(to, text.data(), length);
    to[length] = '\0';
    return length == text.size() ? Vendor::kSuccess : Vendor::kInsufficientSize;
  }

  static Code text(Handle device, std::string (*of)(const Facts&), char* to, std::size_t bytes) {
    return guarded([&] {
      Facts facts;
      const Code code = read_facts(device, facts);
      if (code != Vendor::kSuccess) return code;
      const std::string known = of(facts);
      return known.empty() ? Vendor::kNotSupported : write_text(known, to, bytes);
    });
  }

  static Code check(Handle device) {
    int index = 0;
    std::uint32_t count = 0;
    return device == Vendor::kNoHandle ? count_devices(count) : find(device, index);
  }

  static Code denied(Handle device) {
    return guarded([&] {
      const Code code = check(device);
      return code == Vendor::kSuccess ? Vendor::kPermission : code;
    });
  }

  static Code absent(Handle device, const char* function, const char* why) {
    return guarded([&] {
      const Code code = check(device);
      if (code != Vendor::kSuccess) return code;
      proxy::log_debug(std::string(function) + ": " + why);
      return Vendor::kNotSupported;
    });
  }
};

}  // namespace tf::smi
