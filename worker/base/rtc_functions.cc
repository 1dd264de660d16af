// SPDX-License-Identifier: Apache-2.0
// Compiles a program with the runtime's hiprtc.
#include "worker/base/rtc_functions.h"

#include <algorithm>
#include <iterator>
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
  const bool relocatable = rtc.links() && std::find(program.options.begin(), program.options.end(),
                                                    "-fgpu-rdc") != program.options.end();
  result.code = relocatable ? read(compiled, rtc.bitcode_size, rtc.bitcode, protocol::kRtcCodeBytesMax)
                            : read(compiled, rtc.code_size, rtc.code, protocol::kRtcCodeBytesMax);
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

protocol::RtcResult failed(const char* why) {
  protocol::RtcResult result;
  result.result = HIPRTC_ERROR_INTERNAL_ERROR;
  result.log = why;
  return result;
}

// One of the runtime's link states, destroyed with the object. It writes what went wrong into `log`.
class Link {
 public:
  explicit Link(const RtcFunctions& rtc) : rtc_(rtc), log_(kLinkLogBytes, '\0') {
    int options[] = {kErrorLog, kErrorLogBytes};
    void* values[] = {log_.data(), reinterpret_cast<void*>(log_.size())};
    result_ = rtc_.link_create(static_cast<unsigned>(std::size(options)), options, values, &state_);
  }
  ~Link() {
    if (state_ != nullptr) static_cast<void>(rtc_.link_destroy(state_));
  }
  Link(const Link&) = delete;
  Link& operator=(const Link&) = delete;

  void add(const protocol::RtcEntry& module) {
    if (result_ != HIPRTC_SUCCESS) return;
    std::string image = module.text;  // hiprtc takes it without const
    result_ = rtc_.link_add(state_, kLlvmBitcode, image.data(), image.size(), module.name.c_str(), 0, nullptr,
                            nullptr);
  }
  protocol::RtcResult complete() {
    protocol::RtcResult result;
    void* image = nullptr;
    std::size_t bytes = 0;
    if (result_ == HIPRTC_SUCCESS) result_ = rtc_.link_complete(state_, &image, &bytes);
    result.result = result_;
    result.log = log_.c_str();
    if (result_ != HIPRTC_SUCCESS) return result;
    if (image == nullptr || bytes == 0 || bytes > protocol::kRtcCodeBytesMax)
      return failed("hiprtc: the worker's runtime gave no code, or more than can be sent");
    result.code.assign(static_cast<const char*>(image), bytes);
    return result;
  }

 private:
  static constexpr std::size_t kLinkLogBytes = 64 << 10;
  static constexpr int kErrorLog = 5;       // HIPRTC_JIT_ERROR_LOG_BUFFER
  static constexpr int kErrorLogBytes = 6;  // HIPRTC_JIT_ERROR_LOG_BUFFER_SIZE_BYTES
  static constexpr int kLlvmBitcode = 100;  // HIPRTC_JIT_INPUT_LLVM_BITCODE

  const RtcFunctions& rtc_;
  std::string log_;
  void* state_ = nullptr;
  int result_ = HIPRTC_SUCCESS;  // hiprtcResult
};

protocol::RtcResult link_modules(const RtcFunctions& rtc, const protocol::RtcProgram& program) {
  if (!rtc.links()) return failed("hiprtc: the worker's runtime has no linker");
  Link link(rtc);
  for (const protocol::RtcEntry& module : program.modules) link.add(module);
  return link.complete();
}

}  // namespace

protocol::RtcResult compile_program(const RtcFunctions& rtc, const protocol::RtcProgram& program) {
  protocol::RtcResult result;
  if (!program.modules.empty()) return link_modules(rtc, program);
  if (!rtc.complete()) return failed("hiprtc: the worker's runtime has no compiler");
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
