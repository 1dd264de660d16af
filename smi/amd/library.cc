// SPDX-License-Identifier: Apache-2.0
// The library itself: sessions, versions, texts of codes.
#include <algorithm>
#include <iterator>

#include "smi/amd/layout.h"
#include "smi/amd/support.h"
#include "smi/gen/amd/custom.h"

namespace tf::amdsmi::custom {
namespace {

struct CodeText {
  amdsmi_status_t code;
  const char* text;
};
constexpr CodeText kTexts[] = {
    {0, "AMDSMI_STATUS_SUCCESS: success"},
    {1, "AMDSMI_STATUS_INVAL: an argument is not valid"},
    {2, "AMDSMI_STATUS_NOT_SUPPORTED: not supported by this device, or not remotely"},
    {3, "AMDSMI_STATUS_NOT_YET_IMPLEMENTED: not implemented yet"},
    {4, "AMDSMI_STATUS_FAIL_LOAD_MODULE: a library cannot be loaded"},
    {5, "AMDSMI_STATUS_FAIL_LOAD_SYMBOL: a function of a library cannot be found"},
    {6, "AMDSMI_STATUS_DRM_ERROR: an error of libdrm"},
    {7, "AMDSMI_STATUS_API_FAILED: the worker has not answered"},
    {8, "AMDSMI_STATUS_TIMEOUT: no answer in time"},
    {9, "AMDSMI_STATUS_RETRY: try again"},
    {10, "AMDSMI_STATUS_NO_PERM: permission denied: a tenant of a worker may only read"},
    {11, "AMDSMI_STATUS_INTERRUPT: interrupted"},
    {12, "AMDSMI_STATUS_IO: an input or output error"},
    {13, "AMDSMI_STATUS_ADDRESS_FAULT: a bad address"},
    {14, "AMDSMI_STATUS_FILE_ERROR: a file cannot be accessed"},
    {15, "AMDSMI_STATUS_OUT_OF_RESOURCES: out of memory or of another resource"},
    {16, "AMDSMI_STATUS_INTERNAL_EXCEPTION: an exception inside the library"},
    {17, "AMDSMI_STATUS_INPUT_OUT_OF_BOUNDS: the input is out of range"},
    {18, "AMDSMI_STATUS_INIT_ERROR: initialization failed"},
    {19, "AMDSMI_STATUS_REFCOUNT_OVERFLOW: too many references"},
    {20, "AMDSMI_STATUS_DIRECTORY_NOT_FOUND: a folder is not there"},
    {30, "AMDSMI_STATUS_BUSY: the device is busy"},
    {31, "AMDSMI_STATUS_NOT_FOUND: there is no such device or process"},
    {32, "AMDSMI_STATUS_NOT_INIT: not initialized: there is no session with a worker"},
    {33, "AMDSMI_STATUS_NO_SLOT: no free slot"},
    {34, "AMDSMI_STATUS_DRIVER_NOT_LOADED: the driver is not loaded"},
    {39, "AMDSMI_STATUS_MORE_DATA: there is more data than the buffer takes"},
    {40, "AMDSMI_STATUS_NO_DATA: no data"},
    {41, "AMDSMI_STATUS_INSUFFICIENT_SIZE: the buffer is too small"},
    {42, "AMDSMI_STATUS_UNEXPECTED_SIZE: data of an unexpected size"},
    {43, "AMDSMI_STATUS_UNEXPECTED_DATA: unexpected data"},
    {55, "AMDSMI_STATUS_SETTING_UNAVAILABLE: the setting is not available"},
    {0xffffffff, "AMDSMI_STATUS_UNKNOWN_ERROR: unknown error"},
};

}  // namespace

// Devices are those of the session, whatever kinds of processors `init_flags` asks for.
amdsmi_status_t init(std::uint64_t) { return Answers::code_of(smi::init()); }

amdsmi_status_t shut_down() { return smi::shut_down().is_ok() ? kSuccess : kNotInitialized; }

// Without a session, too.
amdsmi_status_t get_lib_version(amdsmi_version_t* version) {
  if (version == nullptr) return kInvalidArguments;
  write_version(*version);
  return kSuccess;
}

amdsmi_status_t status_code_to_string(amdsmi_status_t status, const char** status_string) {
  if (status_string == nullptr) return kInvalidArguments;
  const auto* const found =
      std::ranges::find_if(kTexts, [&](const CodeText& known) { return known.code == status; });
  *status_string = found != std::end(kTexts) ? found->text : "an unknown code";
  return kSuccess;
}

amdsmi_status_t get_esmi_err_msg(amdsmi_status_t status, const char** status_string) {
  return status_code_to_string(status, status_string);
}

}  // namespace tf::amdsmi::custom
