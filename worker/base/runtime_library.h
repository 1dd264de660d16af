// SPDX-License-Identifier: Apache-2.0
// RuntimeLibrary: the HIP runtime of a session process, loaded with dlopen.
//
// Loaded once, before the process has a client, and never unloaded (runtimes keep threads). Afterwards
// read-only: any thread.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "hipcore/wire/device_snapshot.h"
#include "hipcore/wire/gen/hip_table.h"
#include "transport/base/status.h"
#include "worker/base/optional_functions.h"

namespace tf::worker {

// Where hip-worker's own libraries may be: next to the executable's bin directory, in a build tree or an
// installation.
const std::vector<std::filesystem::path>& own_library_directories();

class RuntimeLibrary {
 public:
  // `choice`: auto, amd, cuda, cpu, or the path of a library. auto takes the first of amd and cuda that has a
  // device, else cpu. The Status lists every file tried, and why it was unusable.
  static Result<RuntimeLibrary> load(std::string_view choice);

  const std::string& name() const { return name_; }  // "amd", "cuda", "cpu" or the path
  const std::string& path() const { return path_; }  // of the file loaded
  const protocol::HipTable& hip() const { return hip_; }
  const OptionalFunctions& optional() const { return optional_; }
  // Functions that the library lacks; calling them returns hipErrorNotSupported.
  const std::vector<std::string>& missing() const { return missing_; }

 private:
  RuntimeLibrary() = default;

  static Result<RuntimeLibrary> load_named(std::string_view name);
  static Result<RuntimeLibrary> load_file(std::string name, const std::string& file);

  std::string name_;
  std::string path_;
  protocol::HipTable hip_{};
  OptionalFunctions optional_;
  std::vector<std::string> missing_;
};

}  // namespace tf::worker
