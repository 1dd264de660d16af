// SPDX-License-Identifier: Apache-2.0
// Contexts: of devices, and those that HIP 7.14 makes of parts of a device.
#include "tests/differential/case.h"

namespace tf::differential {
namespace {

Value context(Case& c) {
  hipCtx_t ctx = nullptr;
  c.check(c.api("hipCtxGetCurrent", &ctx), "hipCtxGetCurrent");
  return pointer(ctx);
}
Value other_context(Case& c) {
  hipCtx_t ctx = nullptr;
  c.check(c.api("hipDevicePrimaryCtxRetain", &ctx, 1), "hipDevicePrimaryCtxRetain");
  c.after([&api = c.api] { api.quietly("hipDevicePrimaryCtxRelease", 1); });
  return pointer(ctx);
}

Value resource(Case& c) {
  auto* const resource = c.keep<hipDevResource>();
  c.check(c.api("hipDeviceGetDevResource", 0, resource, hipDevResourceTypeSm), "hipDeviceGetDevResource");
  return pointer(resource);
}
Value groups(Case& c) {
  auto* const groups = c.keep<hipDevSmResourceGroupParams>();
  groups->smCount = 1;
  return pointer(groups);
}
Value descriptor(Case& c) {
  hipDevResourceDesc_t descriptor = nullptr;
  c.check(c.api("hipDevResourceGenerateDesc", &descriptor, c.handle<hipDevResource*>("dev_resource"), 1U),
          "hipDevResourceGenerateDesc");
  return pointer(descriptor);
}
hipExecutionCtx_t new_green(Case& c) {
  hipExecutionCtx_t context = nullptr;
  c.check(c.api("hipGreenCtxCreate", &context, c.handle<hipDevResourceDesc_t>("dev_descriptor"), 0, 0U),
          "hipGreenCtxCreate");
  return context;
}

}  // namespace

void add_contexts(Fixtures& all) {
  all["ctx"] = context;
  all["ctx_other"] = other_context;
  all["dev_resource"] = resource;
  all["dev_groups"] = groups;
  all["dev_descriptor"] = descriptor;
  all["green"] = [](Case& c) { return ended(c, new_green(c), "hipExecutionCtxDestroy"); };
  all["green_destroyed"] = [](Case& c) { return gone(c, new_green(c), "hipExecutionCtxDestroy"); };
}

}  // namespace tf::differential
