// SPDX-License-Identifier: Apache-2.0
// hiprtc compilation with NVRTC: for the calling thread's device, to a cubin if NVRTC knows the device's
// processor, else to PTX for the newest processor it knows, which the driver compiles further.
#include "worker/runtime/common/rtc/compile.h"

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "worker/runtime/cuda/properties.h"
#include "worker/runtime/cuda/rtc/nvrtc.h"
#include "worker/runtime/cuda/rtc/options.h"
#include "worker/runtime/cuda/rtc/prelude.h"
#include "worker/runtime/cuda/runtime.h"

namespace tf::runtime::rtc {
namespace {

using cuda::nvrtc::kSuccess;
using cuda::nvrtc::Nvrtc;
using cuda::rtc::Translated;

constexpr char kToolkitHeaders[] = "/usr/local/cuda/include";

// One of NVRTC's programs, destroyed with the object.
class Program {
 public:
  explicit Program(const Nvrtc& nvrtc) : nvrtc_(nvrtc) {}
  ~Program() {
    if (handle_) static_cast<void>(nvrtc_.DestroyProgram(&handle_));
  }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  int create(const Source& source) {
    // The texts live until NVRTC has copied them.
    const std::string text = std::string(cuda::rtc::prelude()) + "\n#line 1\n" + source.text;
    std::map<std::string, std::string> headers = source.headers;
    headers.insert(cuda::rtc::headers().begin(), cuda::rtc::headers().end());  // the program's own win
    std::vector<const char*> names;
    std::vector<const char*> texts;
    for (const auto& [name, header] : headers) {
      names.push_back(name.c_str());
      texts.push_back(header.c_str());
    }
    return nvrtc_.CreateProgram(&handle_, text.c_str(), source.name.c_str(), static_cast<int>(names.size()),
                                texts.data(), names.data());
  }
  cuda::nvrtc::Program handle() const { return handle_; }

 private:
  const Nvrtc& nvrtc_;
  cuda::nvrtc::Program handle_ = nullptr;
};

// Text or code that NVRTC returns as a size and then a copy; empty if there is none.
std::string read(cuda::nvrtc::Program program, int (*size)(cuda::nvrtc::Program, std::size_t*),
                 int (*copy)(cuda::nvrtc::Program, char*)) {
  std::size_t bytes = 0;
  if (size(program, &bytes) != kSuccess || bytes == 0) return {};
  std::string text(bytes, '\0');
  return copy(program, text.data()) == kSuccess ? text : std::string();
}

// What the current device is compiled for: its own processor, or PTX for the newest before it.
std::string architecture_of_device(const Nvrtc& nvrtc) {
  cuda::Runtime& runtime = cuda::Runtime::get();
  int count = 0;
  if (nvrtc.GetNumSupportedArchs(&count) != kSuccess || count <= 0) return "compute_75";
  std::vector<int> known(static_cast<std::size_t>(count));
  if (nvrtc.GetSupportedArchs(known.data()) != kSuccess) return "compute_75";
  std::sort(known.begin(), known.end());
  if (runtime.status() != hipSuccess) return "compute_" + std::to_string(known.front());
  const hipDeviceProp_t& device = cuda::current_device().properties;
  const int number = device.major * 10 + device.minor;
  const auto above = std::upper_bound(known.begin(), known.end(), number);
  if (above == known.begin()) return "compute_" + std::to_string(known.front());
  return *std::prev(above) == number ? cuda::architecture(device.major, device.minor)
                                     : "compute_" + std::to_string(*std::prev(above));
}

void add_toolkit_headers(Translated& translated) {
  std::error_code ignored;
  if (std::filesystem::exists(kToolkitHeaders, ignored))
    translated.options.push_back(std::string("--include-path=") + kToolkitHeaders);
}

// Takes the requested names, and the code.
void take_results(const Nvrtc& nvrtc, const Source& source, const Program& program, const Translated& how,
                  bool relocatable, Compiled& compiled) {
  // A module is PTX, which the driver links.
  if (how.architecture.starts_with("sm_") && !relocatable)
    compiled.code = read(program.handle(), nvrtc.GetCUBINSize, nvrtc.GetCUBIN);
  if (compiled.code.empty()) compiled.code = read(program.handle(), nvrtc.GetPTXSize, nvrtc.GetPTX);
  for (const std::string& expression : source.name_expressions) {
    const char* name = nullptr;
    if (nvrtc.GetLoweredName(program.handle(), expression.c_str(), &name) == kSuccess && name)
      compiled.lowered_names[expression] = name;
  }
  compiled.ok = !compiled.code.empty();
}

}  // namespace

Result<Compiled> compile(const Source& source, const std::vector<std::string>& options) {
  const Nvrtc& nvrtc = cuda::nvrtc::nvrtc();
  if (!nvrtc.reason.empty()) return Status{Code::kUnavailable, nvrtc.reason};
  Translated translated = cuda::rtc::translate_options(options, architecture_of_device(nvrtc));
  add_toolkit_headers(translated);
  Program program(nvrtc);
  if (const int error = program.create(source); error != kSuccess)
    return Status{Code::kInternal, nvrtc.GetErrorString(error)};
  for (const std::string& expression : source.name_expressions)
    static_cast<void>(nvrtc.AddNameExpression(program.handle(), expression.c_str()));
  std::vector<const char*> words;
  for (const std::string& option : translated.options) words.push_back(option.c_str());
  const int error = nvrtc.CompileProgram(program.handle(), static_cast<int>(words.size()), words.data());
  Compiled compiled;
  compiled.log = translated.notes;
  std::string log = read(program.handle(), nvrtc.GetProgramLogSize, nvrtc.GetProgramLog);
  while (!log.empty() && log.back() == '\0') log.pop_back();  // NVRTC counts the end
  compiled.log += log;
  if (error == kSuccess) take_results(nvrtc, source, program, translated, is_relocatable(options), compiled);
  if (error != kSuccess && compiled.log.empty()) compiled.log = nvrtc.GetErrorString(error);
  return compiled;
}

}  // namespace tf::runtime::rtc
