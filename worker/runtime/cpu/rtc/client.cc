// SPDX-License-Identifier: Apache-2.0
// hiprtc in a separate library, libhiprtc.so. It compiles for this host's cores itself. For other devices the
// worker compiles, whose runtime has the compiler; requests go through our libamdhip64.so
// (hipcore/wire/remote_rtc.h). Without it, or without a worker, everything is compiled here.
#include <dlfcn.h>

#include <exception>
#include <string>
#include <utility>

#include "hipcore/abi/rules.h"
#include "hipcore/wire/remote_rtc.h"
#include "hipcore/wire/rtc_program.h"
#include "worker/runtime/cpu/rtc/compile_here.h"
#include "worker/runtime/cpu/rtc/target.h"

namespace tf::runtime::rtc {
namespace {

constexpr std::size_t kArchitectureBytes = 256;

struct Remote {
  decltype(&::hip_remote_rtc_target) target = nullptr;
  decltype(&::hip_remote_rtc_compile) compile = nullptr;
  explicit operator bool() const { return target != nullptr && compile != nullptr; }
};

Remote look_in(void* library) {
  Remote remote;
  if (::dlsym(library, "hip_remote_proxy_version") == nullptr) return remote;
  remote.target = reinterpret_cast<decltype(remote.target)>(::dlsym(library, "hip_remote_rtc_target"));
  remote.compile = reinterpret_cast<decltype(remote.compile)>(::dlsym(library, "hip_remote_rtc_compile"));
  return remote;
}

// Looks for the library of that name beside this one: a program may have loaded it where no one else sees it.
Remote look_beside() {
  Dl_info self{};
  if (::dladdr(reinterpret_cast<const void*>(&look_beside), &self) == 0 || self.dli_fname == nullptr)
    return {};
  std::string file(self.dli_fname);
  file.resize(file.rfind('/') == std::string::npos ? 0 : file.rfind('/') + 1);
  void* library = ::dlopen((file + abi::kRules.library).c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return {};
  const Remote remote = look_in(library);
  if (!remote) ::dlclose(library);  // otherwise it stays: the session lives in it
  return remote;
}

Remote find_remote() {
  const Remote loaded = look_in(RTLD_DEFAULT);
  if (loaded) return loaded;
  // A program with another HIP runtime runs natively.
  return ::dlsym(RTLD_DEFAULT, "hipGetDeviceCount") != nullptr ? Remote{} : look_beside();
}

// Not cached if there is none: a program may load HIP later.
Remote remote() {
  static const Remote first = find_remote();
  return first ? first : look_in(RTLD_DEFAULT);
}

protocol::RtcProgram program_of(const Source& source, const std::vector<std::string>& options) {
  protocol::RtcProgram program{source.text, source.name, {}, options, source.name_expressions};
  for (const auto& [name, text] : source.headers) program.headers.push_back({name, text});
  return program;
}

struct Taken {
  Result<protocol::RtcResult> result = Status{Code::kInternal, "hiprtc: no memory"};
};

void take(void* context, const void* result, size_t bytes) {
  try {
    static_cast<Taken*>(context)->result =
        protocol::decode_rtc_result({static_cast<const std::byte*>(result), bytes});
  } catch (const std::exception&) {  // the result stays what it is: no memory
  }
}

// Later releases, and the worker's bytes, have results that HIP 5.2's enum does not hold.
hiprtcResult result_of(std::int32_t number) {
  const bool known = number >= HIPRTC_SUCCESS && number <= HIPRTC_ERROR_INTERNAL_ERROR;
  return known ? static_cast<hiprtcResult>(number) : HIPRTC_ERROR_INTERNAL_ERROR;
}

Result<Compiled> compile_remotely(const Remote& remote, const protocol::RtcProgram& what) {
  auto program = protocol::encode(what);
  if (!program) return program.status();
  Taken taken;
  static_cast<void>(remote.compile(program->data(), program->size(), &take, &taken));
  if (!taken.result) return taken.result.status();
  Compiled compiled;
  compiled.result = result_of(taken.result->result);
  compiled.ok = compiled.result == HIPRTC_SUCCESS;
  compiled.log = std::move(taken.result->log);
  compiled.code = std::move(taken.result->code);
  for (protocol::RtcEntry& entry : taken.result->lowered_names)
    compiled.lowered_names[std::move(entry.name)] = std::move(entry.text);
  return compiled;
}

}  // namespace

Result<Compiled> compile(const Source& source, const std::vector<std::string>& options) {
  char device[kArchitectureBytes];
  const Remote found = remote();
  if (!found || found.target(device, sizeof device) == 0 || !cpu::rtc::is_for_worker(options, device))
    return cpu::rtc::compile_here(source, options);
  return compile_remotely(found, program_of(source, options));
}

Result<Compiled> link(const std::vector<Module>& modules) {
  char device[kArchitectureBytes];
  const Remote found = remote();
  if (!found || found.target(device, sizeof device) == 0 || !cpu::rtc::is_for_worker({}, device))
    return cpu::rtc::link_here(modules);
  protocol::RtcProgram program;
  for (const Module& module : modules) program.modules.push_back({module.name, module.code});
  return compile_remotely(found, program);
}

}  // namespace tf::runtime::rtc
