// SPDX-License-Identifier: Apache-2.0
// Runtime compilation by hipcc-cpu, in a directory of its own; see compile_here.h. The compiler is found by
// TF_HIPCC_CPU, else in a bin/ beside or above the library this is part of, else on PATH.
#include "worker/runtime/cpu/rtc/compile_here.h"

#include "worker/runtime/cpu/rtc/guard.h"
#include "worker/runtime/cpu/rtc/process.h"

#include <dlfcn.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <system_error>

namespace tf::cpu::rtc {
namespace {

namespace fs = std::filesystem;
using runtime::rtc::Compiled;
using runtime::rtc::Source;

constexpr int kCompileLimitSeconds = 300;
constexpr Limits kCompileLimits{kCompileLimitSeconds, 16ul << 20, 1ul << 20};  // 16 GiB, files of 1 GiB

constexpr int kSignals = 128;  // above it, the status of a command is the signal that ended it
constexpr int kLevelsAbove =
    4;  // lib/native/x.so under the build folder, lib/x86_64-linux-gnu/x.so under a prefix

std::string compiler() {
  if (const char* chosen = std::getenv("TF_HIPCC_CPU"); chosen != nullptr && *chosen != '\0') return chosen;
  Dl_info info{};
  if (dladdr(reinterpret_cast<const void*>(&compiler), &info) != 0 && info.dli_fname != nullptr) {
    std::error_code ignored;
    fs::path directory = fs::weakly_canonical(info.dli_fname, ignored).parent_path();
    for (int level = 0; level < kLevelsAbove && !directory.empty(); ++level) {
      const fs::path candidate = directory / "bin" / "hipcc-cpu";
      if (fs::exists(candidate, ignored)) return candidate.string();
      directory = directory.parent_path();
    }
  }
  return "hipcc-cpu";
}

// A directory that is removed, with its content, when the object is destroyed.
class TemporaryDirectory {
 public:
  TemporaryDirectory() {
    const char* base = std::getenv("TMPDIR");
    std::string pattern = std::string(base != nullptr && *base != '\0' ? base : "/tmp") + "/hiprtc-XXXXXX";
    if (mkdtemp(pattern.data()) != nullptr) path_ = pattern;
  }
  ~TemporaryDirectory() {
    std::error_code ignored;
    if (!path_.empty()) fs::remove_all(path_, ignored);
  }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

std::string read_file(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

Status write_file(const fs::path& path, const std::string& text) {
  std::error_code ignored;
  fs::create_directories(path.parent_path(), ignored);
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  return file ? Status::ok() : Status{Code::kUnavailable, "hiprtc: cannot write " + path.string()};
}

// Whether a name stays inside its directory.
bool stays_inside(const fs::path& name) {
  if (name.empty() || name.is_absolute()) return false;
  for (const fs::path& part : name) {
    if (part == "..") return false;
  }
  return true;
}

// The text, and for every name expression a variable whose initializer tells hipcc-cpu the mangled name.
std::string source_text(const Source& source) {
  std::string text = "#line 1 \"" + source.name + "\"\n" + source.text + "\n#line 1 \"name expressions\"\n";
  for (std::size_t i = 0; i < source.name_expressions.size(); ++i) {
    const std::string& expression = source.name_expressions[i];
    text += "extern \"C\" __device__ const void* __hipr_name_expr_" + std::to_string(i) + " = (const void*)" +
            (expression.starts_with('&') ? "" : "&") + expression + ";\n";
  }
  return text;
}

void read_names(const fs::path& path, const Source& source, Compiled& compiled) {
  std::istringstream lines(read_file(path));
  std::size_t index = 0;
  std::string name;
  while (lines >> index >> name) {
    if (index < source.name_expressions.size()) compiled.lowered_names[source.name_expressions[index]] = name;
  }
}

Status write_sources(const Source& source, const fs::path& directory) {
  for (const auto& [name, text] : source.headers) {
    if (!stays_inside(name)) return {Code::kInvalidArgument, "hiprtc: header name " + name};
    TF_RETURN_IF_ERROR(write_file(directory / "include" / name, text));
  }
  return write_file(directory / "source.hip", source_text(source));
}

// Runs hipcc-cpu in the directory, where it makes code.co and may be killed with `guard`.
Result<Compiled> run(const fs::path& in, Guard& guard, std::vector<std::string> command) {
  command.insert(command.begin(), compiler());
  command.insert(command.end(), {"-o", in / "code.co"});
  auto status = run_command(command, {in / "log", in, kCompileLimits, &guard},
                            std::chrono::seconds(kCompileLimitSeconds));
  Compiled compiled;
  compiled.log = read_file(in / "log");
  if (!status) {
    if (status.code() != Code::kTimeout) return status.status();
    compiled.log += status.status().message() + "\n";
    return compiled;
  }
  if (*status == 127)
    return Status{Code::kUnavailable, compiled.log.empty() ? "hipcc-cpu not found" : compiled.log};
  if (*status > kSignals)
    compiled.log += std::string("hipcc-cpu was ended: ") + ::strsignal(*status - kSignals) + "\n";
  compiled.code = read_file(in / "code.co");
  compiled.ok = *status == 0 && !compiled.code.empty();
  return compiled;
}

Status no_directory() { return Status::from_errno("hiprtc: temporary directory", errno); }

}  // namespace

Result<Compiled> compile_here(const Source& source, const std::vector<std::string>& options) {
  const TemporaryDirectory directory;
  const fs::path& in = directory.path();
  if (in.empty()) return no_directory();
  Guard guard(in.string());
  TF_RETURN_IF_ERROR(write_sources(source, in));
  std::vector<std::string> command = {"--rtc", "-march=native", "--names", in / "names"};
  command.push_back("-I" + (in / "include").string());
  command.insert(command.end(), options.begin(), options.end());
  command.push_back(in / "source.hip");
  Result<Compiled> compiled = run(in, guard, std::move(command));
  if (compiled && compiled->ok) read_names(in / "names", source, *compiled);
  return compiled;
}

Result<Compiled> link_here(const std::vector<runtime::rtc::Module>& modules) {
  const TemporaryDirectory directory;
  const fs::path& in = directory.path();
  if (in.empty()) return no_directory();
  Guard guard(in.string());
  std::vector<std::string> command = {"--rtc-link", "-march=native"};
  for (std::size_t i = 0; i < modules.size(); ++i) {
    command.push_back(in / ("module" + std::to_string(i) + ".bc"));
    TF_RETURN_IF_ERROR(write_file(command.back(), modules[i].code));
  }
  return run(in, guard, std::move(command));
}

}  // namespace tf::cpu::rtc
