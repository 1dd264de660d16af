// SPDX-License-Identifier: Apache-2.0
// RunTrace: what the processes of one run traced (TF_TRACE, proxy/stats/trace.h), as one file in the Trace
// Event Format (JSON), which ui.perfetto.dev and chrome://tracing open.
#pragma once

#include <cstddef>
#include <string>

#include "transport/base/status.h"

namespace tf::tools {

inline constexpr std::size_t kTracesMax = 256;  // processes that one file covers

class RunTrace {
 public:
  // Makes the directory for the processes' files. A file that cannot be written is reported now, not after
  // the run.
  static Result<RunTrace> make(const std::string& file);
  RunTrace(RunTrace&& other) noexcept;
  RunTrace& operator=(RunTrace&&) = delete;
  ~RunTrace();  // removes the directory; a running process keeps its unlinked file

  const std::string& directory() const { return directory_; }
  // The run has ended.
  Status write() const;

 private:
  RunTrace() = default;

  std::string file_;
  std::string directory_;
};

}  // namespace tf::tools
