// SPDX-License-Identifier: Apache-2.0
// What the exported functions of librocm_smi64 have in common: the session, checks, and answers. Nothing here
// throws.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <limits>
#include <new>
#include <string>

#include "hipcore/smi/values.h"
#include "smi/client/process.h"
#include "smi/rocm/types.h"
#include "transport/base/status.h"

namespace tf::rsmi {

inline constexpr std::uint32_t kNoDevice = ~0u;

// The vendor's code for a failure of ours.
rsmi_status_t code_of(const Status& status);

// `body` returns a code; what it throws becomes one.
template <typename Body>
rsmi_status_t guarded(Body body) {
  try {
    return body();
  } catch (const std::bad_alloc&) {
    return kOutOfResources;
  } catch (const std::exception&) {
    return kInternalException;
  }
}

rsmi_status_t read_sample(std::uint32_t device, smi::Sample& sample);
rsmi_status_t read_facts(std::uint32_t device, smi::Facts& facts);

// Hands out what is known: kNotSupported if it is not, kInvalidArguments if nobody wants it.
template <typename Value>
rsmi_status_t answer(std::uint64_t number, Value* value) {
  if (!smi::is_known(number)) return kNotSupported;
  if (value == nullptr) return kInvalidArguments;
  if constexpr (sizeof(Value) < sizeof number)
    if (number > static_cast<std::uint64_t>(std::numeric_limits<Value>::max())) return kNotSupported;
  *value = static_cast<Value>(number);
  return kSuccess;
}

template <typename Value>
rsmi_status_t sampled(std::uint32_t device, std::uint32_t sensor, std::uint64_t smi::Sample::*field,
                      Value* value) {
  return guarded([&] {
    smi::Sample sample;
    const rsmi_status_t code = read_sample(device, sample);
    if (code != kSuccess) return code;
    return answer(sensor == 0 ? sample.*field : smi::kUnknown, value);
  });
}

template <typename Value>
rsmi_status_t described(std::uint32_t device, std::uint32_t sensor, std::uint64_t smi::Facts::*field,
                        Value* value) {
  return guarded([&] {
    smi::Facts facts;
    const rsmi_status_t code = read_facts(device, facts);
    if (code != kSuccess) return code;
    return answer(sensor == 0 ? facts.*field : smi::kUnknown, value);
  });
}

// Terminated always; kInsufficientSize: cut.
rsmi_status_t write_text(const std::string& text, char* to, std::size_t bytes);
rsmi_status_t text(std::uint32_t device, std::string (*of)(const smi::Facts&), char* to, std::size_t bytes);

// kNoDevice: only that there is a session is checked.
rsmi_status_t denied(std::uint32_t device);
rsmi_status_t absent(std::uint32_t device, const char* function, const char* why);

const char* version_text();

}  // namespace tf::rsmi
