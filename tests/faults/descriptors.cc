// SPDX-License-Identifier: Apache-2.0
// Programs that close descriptors 0 to 2 before their first HIP call, and programs without any left.
#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <set>
#include <vector>

#include "tests/faults/scenarios.h"

namespace faults {
namespace {

constexpr int kReport = 200;  // a copy of standard output, which may be closed
constexpr std::size_t kBytes = std::size_t{3} << 20;
constexpr int kMessages = 20;

std::set<int> open_descriptors() {
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(::opendir("/proc/self/fd"), &::closedir);
  std::set<int> found;
  while (const dirent* entry = folder == nullptr ? nullptr : ::readdir(folder.get()))
    if (const int number = std::atoi(entry->d_name);
        entry->d_name[0] != '.' && number != ::dirfd(folder.get()))
      found.insert(number);
  return found;
}

// Calls that make all that a session has: lanes, rings, shared memory, threads.
int use_hip() {
  void* device = nullptr;
  void* pinned = nullptr;
  hipStream_t stream = nullptr;
  std::vector<char> source(kBytes, 's');
  std::vector<char> back(kBytes, 'b');
  bool fine = hipMalloc(&device, kBytes) == hipSuccess && hipHostMalloc(&pinned, kBytes, 0) == hipSuccess &&
              hipStreamCreate(&stream) == hipSuccess && launch(10) == hipSuccess;
  fine = fine && hipMemcpy(device, source.data(), kBytes, hipMemcpyHostToDevice) == hipSuccess;
  fine = fine && hipMemcpyAsync(pinned, device, kBytes, hipMemcpyDeviceToHost, stream) == hipSuccess;
  fine = fine && hipStreamAddCallback(
                     stream, [](hipStream_t, hipError_t, void*) {}, nullptr, 0) == hipSuccess;
  fine = fine && hipDeviceSynchronize() == hipSuccess;
  fine = fine && hipMemcpy(back.data(), device, kBytes, hipMemcpyDeviceToHost) == hipSuccess;
  return fine && back == source && static_cast<char*>(pinned)[kBytes - 1] == 's' ? 0 : 1;
}

}  // namespace

int closed(int subset) {
  ::dup3(STDOUT_FILENO, kReport, O_CLOEXEC);
  for (int number = 0; number <= STDERR_FILENO; ++number)
    if ((subset >> number & 1) != 0) ::close(number);
  const std::set<int> before = open_descriptors();
  int failed = use_hip();
  int low = 0;
  int inherited = 0;
  for (const int fd : open_descriptors()) {
    if (before.contains(fd)) continue;
    low += fd <= STDERR_FILENO ? 1 : 0;
    inherited += (::fcntl(fd, F_GETFD) & FD_CLOEXEC) == 0 ? 1 : 0;
  }
  ::dprintf(kReport, "ours %d %d\n", low, inherited);
  // What it says into a closed descriptor is nobody's, and what it opens gets the numbers that are free.
  for (int message = 0; message < kMessages; ++message)
    for (int number = STDOUT_FILENO; number <= STDERR_FILENO; ++number)
      if ((subset >> number & 1) != 0 && ::write(number, "a message\n", 10) >= 0) ++failed;
  failed += use_hip();
  for (int number = 0; number <= STDERR_FILENO; ++number)
    if ((subset >> number & 1) != 0 && ::open("/dev/null", O_RDWR) != number) ++failed;
  failed += use_hip();
  ::dprintf(kReport, "closed %d\n", failed);
  return 0;
}

int exhaust() {
  if (use_hip() != 0) return 3;
  std::vector<int> mine;
  for (int fd = ::open("/dev/null", O_RDONLY); fd >= 0; fd = ::open("/dev/null", O_RDONLY))
    mine.push_back(fd);
  const int reason = errno;
  // A lease of its own, whose file cannot be passed any more.
  void* memory = nullptr;
  const std::size_t bytes = std::size_t{96} << 20;
  std::vector<char> source(bytes, 'x');
  std::vector<char> back(bytes);
  hipError_t error = hipMalloc(&memory, bytes);
  if (error == hipSuccess) error = hipMemcpy(memory, source.data(), bytes, hipMemcpyHostToDevice);
  if (error == hipSuccess) error = hipMemcpy(back.data(), memory, bytes, hipMemcpyDeviceToHost);
  say("exhausted", error, error == hipSuccess && back != source);
  for (const int fd : mine) ::close(fd);
  say("free", use_hip(), reason == EMFILE ? 0 : 1);
  return 0;
}

}  // namespace faults
