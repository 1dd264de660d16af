// SPDX-License-Identifier: Apache-2.0
// Modules: a session's code objects, named by the hash of their bytes, so that the bytes travel only once.
//
// The bytes of a module live as long as it is loaded (runtimes may load lazily), and beyond that in the
// cache. Belongs to the executor thread.
#pragma once

#include <hip/hip_runtime_api.h>

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "hipcore/wire/gen/hip_table.h"
#include "hipcore/wire/gen/messages.h"
#include "worker/base/address_map.h"
#include "worker/base/object_table.h"
#include "worker/base/optional_functions.h"
#include "worker/base/own_calls.h"
#include "worker/session/launch_shape.h"

namespace tf::worker {

inline constexpr std::uint64_t kModuleBytesMax = 1ull << 30;       // one code object
inline constexpr std::uint64_t kModuleCacheBytesMax = 2ull << 30;  // all code objects of a session
inline constexpr std::size_t kModulesCachedMax = 16384;
inline constexpr std::size_t kSymbolNameBytesMax = 16384;  // mangled names get long

struct CodeHash {
  std::uint64_t low = 0;
  std::uint64_t high = 0;
  friend auto operator<=>(const CodeHash&, const CodeHash&) = default;
};

struct CodeBytes {
  std::unique_ptr<std::byte[]> data;
  std::size_t size = 0;
};

// XXH3-128 of the bytes.
CodeHash hash_of(const CodeBytes& code);

// Whether a runtime that follows the image's own headers, or reads text up to a zero, stays inside the image
// and the zeros after it. False also for anything that contains pointers or other images (a fat binary's
// wrapper, bundles): clients send the code object that they selected.
bool is_self_contained(std::span<const std::byte> image);

class Modules {
 public:
  // All arguments outlive it.
  Modules(const protocol::HipTable& hip, OwnCalls& own_calls, const OptionalFunctions& optional)
      : hip_(hip), own_calls_(own_calls), optional_(optional) {}

  bool cached(const CodeHash& hash, std::uint64_t bytes) const;
  // Keeps `code` under its hash. False if the cache is full.
  bool keep(const CodeHash& hash, CodeBytes code);

  // Loads the cached code object on the current device and binds `handle`.
  hipError_t load(ObjectTable& objects, std::uint64_t handle, const CodeHash& hash, int device);
  // Unloads the module, with its functions and variables.
  hipError_t unload(ObjectTable& objects, AddressMap& addresses, std::uint64_t handle);
  hipError_t get_function(ObjectTable& objects, std::uint64_t module, std::uint64_t function,
                          const std::string& name);
  // hipErrorNotSupported: the runtime does not tell.
  hipError_t count_functions(const ObjectTable& objects, std::uint64_t module, std::uint32_t& count) const;
  // What a client must know to launch a bound function. `reply` gets the facts, and as many arguments from
  // `first_argument` on as it holds. hipErrorNotSupported: the runtime does not tell.
  hipError_t describe(const ObjectTable& objects, std::uint64_t function, std::uint32_t first_argument,
                      protocol::DescribeFunctionReply& reply) const;
  // Launches with packed arguments. If the runtime has no cooperative form of that, this is an ordinary
  // launch, and the device decides whether the blocks run at the same time.
  hipError_t launch(const protocol::LaunchRequest& request, hipFunction_t function, hipStream_t stream,
                    std::span<const std::byte> arguments) const;
  // The same with a grid in threads, and with events that the runtime records if it takes the launch.
  hipError_t launch_by_threads(const protocol::LaunchRequest& request, hipFunction_t function,
                               hipStream_t stream, const LaunchEvents& events,
                               std::span<const std::byte> arguments) const;
  hipError_t get_global(const ObjectTable& objects, AddressMap& addresses, std::uint64_t module,
                        const std::string& name, std::uint64_t& address, std::uint64_t& bytes);
  // Kernels find the module's managed variable of this name at `address`. hipSuccess if there is none.
  hipError_t bind_managed(const ObjectTable& objects, std::uint64_t module, const std::string& name,
                          std::uint64_t address);

 private:
  hipError_t set_pointer(hipModule_t module, const CodeBytes& code, const std::string& name, void* memory);

  struct Loaded {
    std::shared_ptr<const CodeBytes> code;
    std::vector<std::uint64_t> functions;  // handles
    std::vector<std::uint64_t> globals;    // addresses added to the map
  };

  const protocol::HipTable& hip_;
  OwnCalls& own_calls_;
  const OptionalFunctions& optional_;
  std::map<CodeHash, std::shared_ptr<const CodeBytes>> cache_;
  std::uint64_t cached_bytes_ = 0;
  std::map<std::uint64_t, Loaded> loaded_;  // by module handle
};

}  // namespace tf::worker
