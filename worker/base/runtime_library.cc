// SPDX-License-Identifier: Apache-2.0
// Finds, loads and checks the HIP runtime library.
#include "worker/base/runtime_library.h"

#include <dlfcn.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "hipcore/wire/gen/majors.h"
#include "worker/base/amd_arrays.h"
#include "worker/base/crowded_reservations.h"
#include "worker/base/early_waits.h"
#include "worker/base/event_fences.h"
#include "worker/base/lasting_registrations.h"
#include "worker/base/log.h"
#include "worker/base/short_fills.h"
#include "worker/base/silent_maps.h"

namespace tf::worker {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> candidates(std::string_view name) {
  if (name == "cpu" || name == "cuda") {
    const std::string file = "libhip_" + std::string(name) + ".so";
    std::vector<std::string> files;
    for (const fs::path& own : own_library_directories()) files.push_back(own / file);
    files.push_back(file);
    return files;
  }
  // Our message structs are those of the first major; later majors change some functions' arguments.
  std::vector<std::string> files;
  for (const protocol::HipMajor& major : protocol::kHipMajors) {
    files.emplace_back(major.library);
    files.push_back(std::string("/opt/rocm/lib/") + major.library);
  }
  return files;
}

template <typename Function>
void find(void* library, const char* name, Function*& function) {
  function = reinterpret_cast<Function*>(::dlsym(library, name));
}

RtcFunctions find_rtc(void* library) {
  RtcFunctions rtc;
  if (library == nullptr) return rtc;
  find(library, "hiprtcCreateProgram", rtc.create);
  find(library, "hiprtcDestroyProgram", rtc.destroy);
  find(library, "hiprtcAddNameExpression", rtc.add_name);
  find(library, "hiprtcCompileProgram", rtc.compile);
  find(library, "hiprtcGetLoweredName", rtc.lowered_name);
  find(library, "hiprtcGetProgramLogSize", rtc.log_size);
  find(library, "hiprtcGetProgramLog", rtc.log);
  find(library, "hiprtcGetCodeSize", rtc.code_size);
  find(library, "hiprtcGetCode", rtc.code);
  find(library, "hiprtcGetBitcodeSize", rtc.bitcode_size);
  find(library, "hiprtcGetBitcode", rtc.bitcode);
  find(library, "hiprtcLinkCreate", rtc.link_create);
  find(library, "hiprtcLinkAddData", rtc.link_add);
  find(library, "hiprtcLinkComplete", rtc.link_complete);
  find(library, "hiprtcLinkDestroy", rtc.link_destroy);
  return rtc;
}

SurfaceFunctions find_surfaces(void* library) {
  SurfaceFunctions surfaces;
  find(library, "hipCreateSurfaceObject", surfaces.create);
  find(library, "hipDestroySurfaceObject", surfaces.destroy);
  if (surfaces.create == nullptr)
    find(library, "_Z22hipCreateSurfaceObjectPP13__hip_surfacePK15hipResourceDesc", surfaces.create);
  if (surfaces.destroy == nullptr)
    find(library, "_Z23hipDestroySurfaceObjectP13__hip_surface", surfaces.destroy);
  return surfaces;
}

OptionalFunctions find_optional(void* library) {
  OptionalFunctions optional;
  optional.surfaces = find_surfaces(library);
  VmmFunctions& vmm = optional.vmm;
  find(library, "hipMemAddressReserve", vmm.address_reserve);
  find(library, "hipMemAddressFree", vmm.address_free);
  vmm.range_reserve = vmm.address_reserve;
  vmm.range_free = vmm.address_free;
  find(library, "hipMemCreate", vmm.create);
  find(library, "hipMemRelease", vmm.release);
  find(library, "hipMemMap", vmm.map);
  find(library, "hipMemUnmap", vmm.unmap);
  find(library, "hipMemSetAccess", vmm.set_access);
  find(library, "hipMemGetAllocationGranularity", vmm.granularity);
  find(library, "hipExtMallocWithFlags", optional.malloc_with_flags);
  find(library, "hipMemGetHandleForAddressRange", optional.range_handle);
  find(library,
       "_Z24hipExtModuleLaunchKernelP18ihipModuleSymbol_tjjjjjjmP12ihipStream_tPPvS4_P11ihipEvent_tS6_j",
       optional.launch_by_threads);
  find(library, "hipModuleGetFunctionCount", optional.function_count);
  find(library, "hipRemoteFlushWrites", optional.flush_writes);
  find(library, "hipRemoteBindManaged", optional.bind_managed);
  find(library, "hipRemoteEmptyHeap", optional.empty_heap);
  find(library, "hipRemoteCreateMaskedStream", optional.create_masked_stream);
  find(library, "hipRemoteFollowNull", optional.follow_null);
  find(library, "hipRemoteKernelParameter", optional.kernel_parameter);
  find(library, "hipRemoteLaunchCooperative", optional.launch_cooperative);
  find(library, "hipRemoteUnavailableReason", optional.unavailable_reason);
  find(library, "hipRemoteTellFailures", optional.tell_failures);
  find(library, "hipRemoteRunsOnHost", optional.runs_on_host);
  find(library, "hipRemoteShowBusyTime", optional.show_busy_time);
  find(library, "hipRemoteShareProcessors", optional.share_processors);
  find(library, "hipRemoteShareEvent", optional.share_event);
  find(library, "hipRemoteOpenSharedEvent", optional.open_shared_event);
  return optional;
}

std::string file_of(void* symbol) {
  Dl_info info{};
  return ::dladdr(symbol, &info) != 0 && info.dli_fname != nullptr ? info.dli_fname : std::string();
}

// The proxy has the same name as AMD's library: a worker with the proxy in its library path must not become
// its own client.
bool is_our_proxy(void* library) { return ::dlsym(library, "hip_remote_proxy_version") != nullptr; }

// Natively our own runtimes have the name of AMD's, and need none of the mends.
bool is_our_runtime(void* library) { return ::dlsym(library, "hipRemoteFollowNull") != nullptr; }

bool lies_among_our_own(const std::string& file) {
  std::error_code error;
  const fs::path real = fs::canonical(file, error);
  if (error) return false;
  const std::vector<fs::path>& own = own_library_directories();
  return std::any_of(own.begin(), own.end(), [&](const fs::path& directory) {
    return real.parent_path() == fs::weakly_canonical(directory, error);
  });
}

// The library with hiprtc's functions: AMD's runtime itself, or since 7.0 one beside it. Null: there is none.
void* find_compiler(void* library, const std::string& path) {
  constexpr const char* kFunction = "hiprtcCompileProgram";
  if (::dlsym(library, kFunction) != nullptr) return library;
  std::error_code error;
  const fs::path real = fs::canonical(path, error);  // the name may have no major
  const fs::path file = error ? fs::path(path) : real;
  for (const protocol::HipMajor& major : protocol::kHipMajors) {
    if (!file.filename().string().starts_with(major.library)) continue;
    for (const fs::path& name : {file.parent_path() / major.rtc_library, fs::path(major.rtc_library)}) {
      void* const compiler = ::dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
      void* const function = compiler != nullptr ? ::dlsym(compiler, kFunction) : nullptr;
      // The client's has the same name.
      if (function != nullptr && !lies_among_our_own(file_of(function))) return compiler;
    }
  }
  return nullptr;
}

bool is_amds(void* library, const std::string& file) {
  const std::string_view amds = protocol::kHipMajors[0].library;
  return !is_our_runtime(library) &&
         fs::path(file).filename().string().starts_with(amds.substr(0, amds.find(".so")));
}

bool has_device(const RuntimeLibrary& runtime) {
  int count = 0;
  return runtime.hip().hipInit(0) == hipSuccess && runtime.hip().hipGetDeviceCount(&count) == hipSuccess &&
         count > 0;
}

std::string why_unusable(const RuntimeLibrary& runtime) {
  const auto reason = runtime.optional().unavailable_reason;
  const char* const why = reason != nullptr ? reason() : nullptr;
  return why != nullptr ? why : "no device";
}

}  // namespace

// TF_INSTALL_LIBDIR; tools/hip-remote/layout.cc looks in the same places. Looked up once: below a chroot(2),
// the link leads elsewhere when the process has got mounts of its own.
const std::vector<fs::path>& own_library_directories() {
  static const std::vector<fs::path> directories = [] {
    std::error_code error;
    const fs::path executable = fs::read_symlink("/proc/self/exe", error);
    if (error) return std::vector<fs::path>();
    const fs::path prefix = executable.parent_path().parent_path();
    return std::vector<fs::path>{prefix / "lib", prefix / TF_INSTALL_LIBDIR};
  }();
  return directories;
}

Result<RuntimeLibrary> RuntimeLibrary::load_file(std::string name, const std::string& file) {
  void* library = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* why = ::dlerror();
    return Status(Code::kUnavailable, why != nullptr ? why : file + ": cannot be loaded");
  }
  void* anchor = ::dlsym(library, "hipGetDeviceCount");
  if (anchor == nullptr)
    return Status(Code::kUnavailable, file + ": not a HIP runtime (hipGetDeviceCount is missing)");
  const std::string path = file_of(anchor);
  if (is_our_proxy(library) || (name == "amd" && lies_among_our_own(path)))
    return Status(Code::kUnavailable, path + ": is hip-remote's own client library, not a runtime");

  RuntimeLibrary runtime;
  runtime.name_ = std::move(name);
  runtime.path_ = path.empty() ? file : path;
  runtime.missing_ = protocol::load(runtime.hip_, library);
  const bool amds = is_amds(library, runtime.path_);
  if (amds) {
    mend_short_fills(runtime.hip_);
    mend_early_waits(runtime.hip_);
    mend_event_fences(runtime.hip_);
    mend_lasting_registrations(runtime.hip_);
    mend_amd_arrays(runtime.hip_);
  }
  runtime.optional_ = find_optional(library);
  runtime.optional_.rtc = find_rtc(find_compiler(library, runtime.path_));
  // AMD's of 5.7 and 7 looks for the runtime under a name that only development packages have.
  runtime.optional_.rtc.knows_target = !amds;
  if (amds) {
    mend_silent_maps(runtime.hip_, runtime.optional_.vmm);
    mend_crowded_reservations(runtime.hip_, runtime.optional_.vmm);
  }
  return runtime;
}

Result<RuntimeLibrary> RuntimeLibrary::load_named(std::string_view name) {
  std::string tried;
  for (const std::string& file : candidates(name)) {
    Result<RuntimeLibrary> runtime = load_file(std::string(name), file);
    if (runtime) return runtime;
    tried += (tried.empty() ? "" : "; ") + runtime.status().message();
  }
  return Status(Code::kUnavailable, tried);
}

Result<RuntimeLibrary> RuntimeLibrary::load(std::string_view choice) {
  if (choice == "amd" || choice == "cuda" || choice == "cpu") return load_named(choice);
  if (choice != "auto" && !choice.empty()) return load_file(std::string(choice), std::string(choice));
  std::string tried;
  for (const char* name : {"amd", "cuda"}) {
    Result<RuntimeLibrary> runtime = load_named(name);
    if (runtime && has_device(*runtime)) return runtime;
    tried += fmt::format("{}: {}; ", name, runtime ? why_unusable(*runtime) : runtime.status().message());
  }
  Result<RuntimeLibrary> runtime = load_named("cpu");
  if (runtime) return runtime;
  return Status(Code::kUnavailable, tried + "cpu: " + runtime.status().message());
}

}  // namespace tf::worker
