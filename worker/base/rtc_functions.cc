// SPDX-License-Identifier: Apache-2.0
// Compiles a program with the runtime's hiprtc.
#include "worker/base/rtc_functions.h"

#include <string>
#include <vector>

namespace tf::worker {
namespace {

// One of the runtime's programs, destroyed with the object.
class Program {
 public:
  explicit Program(const RtcFunctions& rtc) : rtc_(rtc) {}
  ~Program() {
    if (handle_ != nullptr) static_cast<void>(rtc_.destroy(&handle_));
  }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  hiprtcResult create(const protocol::RtcProgram& program) {
    std::vector<const char*> names;
    std::vector<const char*> texts;
    for (const protocol::RtcEntry& header : program.headers) {
      names.push_back(header.name.c_str());
      texts.push_back(header.text.c_str());
    }
    return rtc_.create(&handle_, program.text.c_str(), program.name.c_str(), static_cast<int>(names.size()),
                       texts.data(), names.data());
  }
  hiprtcProgram handle() const { return handle_; }

 private:
  const RtcFunctions& rtc_;
  hiprtcProgram handle_ = nullptr;
};

// Text or code that hiprtc returns as a size and then a copy; empty if there is none.
template <typename Size, typename Copy>
std::string read(hiprtcProgram program, Size size, Copy copy, std::size_t bytes_max) {
  std::size_t bytes = 0;
  if (size(program, &bytes) != HIPRTC_SUCCESS || bytes == 0 || bytes > bytes_max) return {};
  std::string text(bytes, '\0');
  return copy(program, text.data()) == HIPRTC_SUCCESS ? text : std::string();
}

void take_code(const RtcFunctions& rtc, const protocol::RtcProgram& program, hiprtcProgram compiled,
               protocol::RtcResult& result) {
  result.code = read(compiled, rtc.code_size, rtc.code, protocol::kRtcCodeBytesMax);
  if (result.code.empty()) {
    result.result = HIPRTC_ERROR_INTERNAL_ERROR;
    result.log += "hiprtc: the worker's runtime gave no code, or more than can be sent\n";
  }
  for (const std::string& expression : program.name_expressions) {
    const char* name = nullptr;
    if (rtc.lowered_name(compiled, expression.c_str(), &name) != HIPRTC_SUCCESS || name == nullptr) continue;
    std::string lowered = name;
    if (lowered.size() <= protocol::kRtcWordBytesMax)
      result.lowered_names.push_back({expression, std::move(lowered)});
  }
}

}  // namespace

protocol::RtcResult compile_program(const RtcFunctions& rtc, const protocol::RtcProgram& program) {
  protocol::RtcResult result;
  if (!rtc.complete()) {
    result.result = HIPRTC_ERROR_INTERNAL_ERROR;
    result.log = "hiprtc: the worker's runtime has no compiler";
    return result;
  }
  Program compiled(rtc);
  result.result = compiled.create(program);
  if (result.result != HIPRTC_SUCCESS) return result;
  for (const std::string& expression : program.name_expressions)
    static_cast<void>(rtc.add_name(compiled.handle(), expression.c_str()));  // asked for its name it says so
  std::vector<const char*> options;
  for (const std::string& option : program.options) options.push_back(option.c_str());
  result.result = rtc.compile(compiled.handle(), static_cast<int>(options.size()), options.data());
  result.log = read(compiled.handle(), rtc.log_size, rtc.log, protocol::kRtcLogBytesMax);
  while (!result.log.empty() && result.log.back() == '\0') result.log.pop_back();  // the size counts the end
  if (result.result == HIPRTC_SUCCESS) take_code(rtc, program, compiled.handle(), result);
  return result;
}

}  // namespace tf::worker
