// SPDX-License-Identifier: Apache-2.0
// Loads OpenSSL, and looks up its functions.
#include "transport/secure/openssl.h"

#include <dlfcn.h>

#include <array>
#include <atomic>
#include <mutex>

#if defined(__SANITIZE_ADDRESS__)
#define TF_ADDRESS_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define TF_ADDRESS_SANITIZER 1
#endif
#endif

namespace tf::secure {
namespace {

constexpr const char* kLibrary = "libssl.so.3";
constexpr const char* kCrypto = "libcrypto.so.3";

// Whether calls inside OpenSSL's libraries would end up in the program: it exports functions of these names,
// and they are not the library's own. (A libssl of another version does no harm: its symbols have versions.)
bool program_is_in_the_way() {
  void* const programs = ::dlsym(RTLD_DEFAULT, "EVP_EncryptUpdate");
  if (programs == nullptr) return false;
  void* const loaded = ::dlopen(kCrypto, RTLD_LAZY | RTLD_LOCAL | RTLD_NOLOAD);
  if (loaded == nullptr) return true;
  const bool same = ::dlsym(loaded, "EVP_EncryptUpdate") == programs;
  ::dlclose(loaded);
  return !same;
}

int flags() {
#ifdef TF_ADDRESS_SANITIZER
  return RTLD_NOW | RTLD_LOCAL;  // it forbids RTLD_DEEPBIND
#else
  return RTLD_NOW | RTLD_LOCAL | (program_is_in_the_way() ? RTLD_DEEPBIND : 0);
#endif
}

Status unusable(const std::string& why) {
  return {Code::kUnavailable,
          "keys need OpenSSL 3 (" + std::string(kLibrary) + "; Debian: apt-get install libssl3): " + why};
}

// Leaves the library loaded on success. Its functions stay where they are for as long as the process lives.
Result<OpenSsl> load() {
  void* const library = ::dlopen(kLibrary, flags());
  if (library == nullptr) {
    const char* const why = ::dlerror();
    return unusable(why != nullptr ? why : "it cannot be loaded");
  }
  OpenSsl ssl;
  const char* missing = nullptr;
  const auto look_up = [&](const char* name) {
    void* const found = ::dlsym(library, name);
    if (found == nullptr) missing = name;
    return found;
  };
#define TF_OPENSSL_FUNCTION(name) ssl.name = reinterpret_cast<decltype(ssl.name)>(look_up(#name));
#include "transport/secure/openssl_functions.inc"
#undef TF_OPENSSL_FUNCTION
  if (missing == nullptr) ssl.context = ssl.OSSL_LIB_CTX_new();
  if (missing == nullptr && ssl.context != nullptr) return ssl;
  ::dlclose(library);
  if (missing == nullptr) return unusable("OSSL_LIB_CTX_new failed");
  return unusable("it has no function " + std::string(missing));
}

struct Loaded {
  std::mutex mutex;
  std::atomic<const OpenSsl*> table{nullptr};  // release; never freed
};

Loaded& state() {
  static Loaded& instance = *new Loaded;  // other threads may still use it when the program ends
  return instance;
}

}  // namespace

// A failure is not remembered: the library may be installed in the meantime.
Result<const OpenSsl*> openssl() {
  Loaded& loaded = state();
  if (const OpenSsl* table = loaded.table.load(std::memory_order_acquire)) return table;
  const std::lock_guard<std::mutex> lock(loaded.mutex);
  if (const OpenSsl* table = loaded.table.load(std::memory_order_relaxed)) return table;
  Result<OpenSsl> fresh = load();
  if (!fresh) return fresh.status();
  const OpenSsl* const table = std::make_unique<OpenSsl>(*fresh).release();
  loaded.table.store(table, std::memory_order_release);
  return table;
}

const OpenSsl& loaded_openssl() { return *state().table.load(std::memory_order_acquire); }

Status openssl_failure(const OpenSsl& ssl, const std::string& what) {
  const unsigned long error = ssl.ERR_get_error();
  ssl.ERR_clear_error();
  std::array<char, 256> text{};
  if (error != 0) ssl.ERR_error_string_n(error, text.data(), text.size());
  return {Code::kInternal, what + (error != 0 ? ": " + std::string(text.data()) : std::string())};
}

}  // namespace tf::secure
