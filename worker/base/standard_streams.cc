// SPDX-License-Identifier: Apache-2.0
// Streams of the C library that write to a KernelOutput.
#include "worker/base/standard_streams.h"

#include <stdio.h>

#include <memory>
#include <new>

namespace tf::worker {
namespace {

struct Source {
  KernelOutput& output;
  protocol::OutputStream stream;
};

ssize_t write_to(void* source, const char* text, size_t bytes) {
  const auto& to = *static_cast<Source*>(source);
  try {
    to.output.print(to.stream, {text, bytes});
  } catch (const std::bad_alloc&) {
    return 0;  // the printing call reports a failure
  }
  return static_cast<ssize_t>(bytes);
}

// Without a buffer: what was printed is counted when the call returns.
FILE* open_stream(KernelOutput& output, protocol::OutputStream stream) {
  auto source = std::make_unique<Source>(Source{output, stream});
  FILE* const file = ::fopencookie(source.get(), "w", {nullptr, &write_to, nullptr, nullptr});
  if (file == nullptr) return nullptr;
  source.release();  // the stream is never closed
  ::setvbuf(file, nullptr, _IONBF, 0);
  return file;
}

}  // namespace

bool capture_standard_streams(KernelOutput& output) {
  FILE* const out = open_stream(output, protocol::OutputStream::kOut);
  FILE* const error = open_stream(output, protocol::OutputStream::kError);
  if (out == nullptr || error == nullptr) return false;
  stdout = out;
  stderr = error;
  return true;
}

}  // namespace tf::worker
