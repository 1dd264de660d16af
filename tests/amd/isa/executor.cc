// SPDX-License-Identifier: Apache-2.0
// Executor: hands the work-groups of a dispatch to threads.
#include "tests/amd/isa/executor.h"

namespace tf::amd::isa {

class Executor::State {};

const char* name(FailureKind kind) {
  switch (kind) {
    case FailureKind::kUnknownInstruction: return "unknown instruction";
    case FailureKind::kUnsupportedOperand: return "unsupported operand form";
    case FailureKind::kMemoryFault: return "memory fault";
    case FailureKind::kMisaligned: return "misaligned access";
    case FailureKind::kTrap: return "trap";
    case FailureKind::kCancelled: return "cancelled";
    case FailureKind::kInvalidDispatch: return "invalid dispatch";
    case FailureKind::kUnavailable: return "unavailable";
  }
  return "failure";
}

Executor::Executor(const AddressSpace& /*memory*/, unsigned /*threads*/) : state_(std::make_unique<State>()) {}
Executor::~Executor() = default;

std::optional<Failure> Executor::run(const Dispatch& /*dispatch*/) {
  return Failure{FailureKind::kUnavailable, 0, 0, 0, "no instruction is executed yet"};
}

void Executor::forget(std::uint64_t /*address*/, std::uint64_t /*bytes*/) {}
std::uint64_t Executor::instructions() const { return 0; }

}  // namespace tf::amd::isa
