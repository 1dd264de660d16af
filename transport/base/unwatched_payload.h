// SPDX-License-Identifier: Apache-2.0
// UnwatchedPayload: while it lives, the thread sanitizer does not look at what this thread reads and writes.
// Else it is nothing.
//
// It is for the bytes of payload, whose order is known to the program or its client only: memory of a device,
// and the staging chunks of a client, pass from one stream to another when the client has seen that the first
// is done, and in the worker alone nothing orders the two. A suppression would hide the reports as well, but
// the sanitizer keeps each racy address and looks through all of them at the next, which takes hours for some
// megabytes. Locks and atomics are looked at as ever. Keep the scope to the copy itself.
#pragma once

#if defined(__SANITIZE_THREAD__)
extern "C" {
void AnnotateIgnoreReadsBegin(const char* file, int line);
void AnnotateIgnoreReadsEnd(const char* file, int line);
void AnnotateIgnoreWritesBegin(const char* file, int line);
void AnnotateIgnoreWritesEnd(const char* file, int line);
}
#endif

namespace tf {

#if defined(__SANITIZE_THREAD__)
class UnwatchedPayload {
 public:
  UnwatchedPayload() {
    AnnotateIgnoreReadsBegin(__FILE__, __LINE__);
    AnnotateIgnoreWritesBegin(__FILE__, __LINE__);
  }
  ~UnwatchedPayload() {
    AnnotateIgnoreWritesEnd(__FILE__, __LINE__);
    AnnotateIgnoreReadsEnd(__FILE__, __LINE__);
  }
  UnwatchedPayload(const UnwatchedPayload&) = delete;
  UnwatchedPayload& operator=(const UnwatchedPayload&) = delete;
};
#else
struct UnwatchedPayload {
  UnwatchedPayload() {}  // NOLINT: not "= default", or compilers call the object unused
};
#endif

}  // namespace tf
