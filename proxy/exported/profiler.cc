// SPDX-License-Identifier: Apache-2.0
// Names that tools ask for.
#include "hipcore/abi/rules.h"
#include "hipcore/errors/api_names.h"
#include "hipcore/errors/command_names.h"
#include "proxy/gen/local.h"

namespace tf::proxy::local {
namespace {

constexpr unsigned kNumberedMajor = 5;  // whose numbers api_name() has

}  // namespace

// The numbers of other releases differ, and no header at hand has them.
const char* hipApiName(uint32_t id) {
  return abi::kRules.major == kNumberedMajor ? hipdata::api_name(id) : "unknown";
}

const char* hipGetCmdName(unsigned int op) { return hipdata::command_name(op); }

const char* amd_dbgapi_get_build_name() { return "hip-remote"; }

const char* amd_dbgapi_get_git_hash() { return ""; }

size_t amd_dbgapi_get_build_id() { return 0; }

void __hipGetPCH(const char** header, unsigned int* bytes) {
  if (header != nullptr) *header = nullptr;
  if (bytes != nullptr) *bytes = 0;
}

}  // namespace tf::proxy::local
