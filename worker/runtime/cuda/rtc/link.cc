// SPDX-License-Identifier: Apache-2.0
// hiprtc's linking with the driver: relocatable PTX, or cubins, become one cubin for the thread's device.
#include <string_view>

#include "worker/runtime/common/rtc/compile.h"
#include "worker/runtime/cuda/backend.h"

namespace tf::runtime::rtc {
namespace {

using cuda::driver::LinkState;

constexpr std::size_t kLogBytes = 64 << 10;
constexpr std::string_view kElf(
    "\x7f"
    "ELF");

// One of the driver's link states, destroyed with the object. The driver writes what went wrong into log().
class Link {
 public:
  Link() : log_(kLogBytes, '\0'), values_{log_.data(), reinterpret_cast<void*>(log_.size())} {
    int options[] = {cuda::driver::kJitErrorLogBuffer, cuda::driver::kJitErrorLogBufferBytes};
    result_ = cuda::cu().LinkCreate(2, options, values_, &state_);
  }
  ~Link() {
    if (state_ != nullptr) static_cast<void>(cuda::cu().LinkDestroy(state_));
  }
  Link(const Link&) = delete;
  Link& operator=(const Link&) = delete;

  void add(const Module& module) {
    if (result_ != cuda::driver::Result::SUCCESS) return;
    const bool cubin = module.code.starts_with(kElf);
    // PTX ends with a zero, which belongs to it.
    std::string image = module.code;
    result_ = cuda::cu().LinkAddData(
        state_, cubin ? cuda::driver::kJitInputCubin : cuda::driver::kJitInputPtx, image.data(),
        cubin ? image.size() : image.size() + 1, module.name.c_str(), 0, nullptr, nullptr);
  }
  // False: it failed, and log() says why.
  bool complete(std::string& code) {
    void* image = nullptr;
    std::size_t bytes = 0;
    if (result_ == cuda::driver::Result::SUCCESS) result_ = cuda::cu().LinkComplete(state_, &image, &bytes);
    if (result_ != cuda::driver::Result::SUCCESS || image == nullptr) return false;
    code.assign(static_cast<const char*>(image), bytes);  // the state's own ends with it
    return true;
  }
  std::string log() const { return log_.c_str(); }

 private:
  std::string log_;
  // The driver writes how long the log is into them whenever it writes the log: "must remain valid for the
  // life of the CUlinkState if output options are used" (CUDA Driver API, cuLinkCreate).
  void* values_[2];
  LinkState state_ = nullptr;
  cuda::driver::Result result_ = cuda::driver::Result::SUCCESS;
};

}  // namespace

Result<Compiled> link(const std::vector<Module>& modules) {
  Compiled linked;
  const hipError_t status = cuda::Backend::call([&]() -> hipError_t {
    Link link;
    for (const Module& module : modules) link.add(module);
    linked.ok = link.complete(linked.code);
    linked.log = link.log();
    return hipSuccess;
  });
  if (status != hipSuccess) return Status{Code::kUnavailable, "hiprtc: there is no device to link for"};
  if (!linked.ok && linked.log.empty()) linked.log = "hiprtc: the driver cannot link this";
  return linked;
}

}  // namespace tf::runtime::rtc
