// SPDX-License-Identifier: Apache-2.0
// Makes copies in the calling thread.
#include "proxy/copy/mapped.h"

#include <cstring>

#include "proxy/copy/engine.h"

namespace tf::proxy {
namespace {

// REQUIRES: all of the line is about to be copied
void ask_for_huge_pages(CopyEngine& engine, const Box& line) {
  for (const std::uint64_t end : {line.target.address, line.source.address}) {
    const bool is_ours = engine.host_window().is_ours(end) || engine.device_memory().find_block(end);
    if (is_ours) engine.huge_pages().use(end, line.width);
  }
}

}  // namespace

void copy_rows(const Box& box) {
  for (std::uint64_t slice = 0; slice < box.depth; ++slice) {
    std::byte* to = box.target.memory() + slice * box.target.slice;
    const std::byte* from = box.source.memory() + slice * box.source.slice;
    for (std::uint64_t row = 0; row < box.height; ++row)
      std::memcpy(to + row * box.target.pitch, from + row * box.source.pitch, box.width);
  }
}

void copy_mapped(CopyEngine& engine, const CopyPlan& plan) {
  if (plan.box.is_line()) {
    if (plan.box.width >= kHugeCopyBytesMin) ask_for_huge_pages(engine, plan.box);
    return engine.threads().copy(reinterpret_cast<void*>(plan.target),
                                 reinterpret_cast<const void*>(plan.source), plan.box.width);
  }
  Box own = plan.box;
  own.target.address = plan.target;
  own.source.address = plan.source;
  copy_rows(own);
}

}  // namespace tf::proxy
