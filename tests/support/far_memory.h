// SPDX-License-Identifier: Apache-2.0
// FarMemory: memory as a GPU's is to the host. Its address is there and may not be touched; what lies behind
// it is a file, which is the dma-buf, and shows in another mapping, for the test's eyes.
#pragma once

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <span>

namespace tf::test {

class FarMemory {
 public:
  // At `place`, whole pages that the caller has reserved; else anywhere.
  explicit FarMemory(std::size_t bytes, std::byte* place = nullptr) : bytes_(bytes), owns_place_(!place) {
    file_ = ::memfd_create("far memory", MFD_CLOEXEC);
    EXPECT_EQ(::ftruncate(file_, static_cast<off_t>(bytes)), 0);
    view_ = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file_, 0);
    EXPECT_NE(view_, MAP_FAILED);
    place_ = place != nullptr ? place : reserve(bytes);
    EXPECT_EQ(::mprotect(place_, bytes, PROT_NONE), 0);
  }
  FarMemory(const FarMemory&) = delete;
  FarMemory& operator=(const FarMemory&) = delete;
  ~FarMemory() {
    ::munmap(view_, bytes_);
    if (owns_place_) ::munmap(place_, bytes_);
    close_file();
  }

  // Addresses without memory.
  static std::byte* reserve(std::size_t bytes) {
    void* const place = ::mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    EXPECT_NE(place, MAP_FAILED);
    return static_cast<std::byte*>(place);
  }

  int file() const { return file_; }
  void close_file() {
    if (file_ >= 0) ::close(file_);
    file_ = -1;
  }
  std::span<std::byte> place() const { return {place_, bytes_}; }
  std::span<std::byte> view() const { return {static_cast<std::byte*>(view_), bytes_}; }

 private:
  std::size_t bytes_;
  bool owns_place_;
  int file_ = -1;
  void* view_ = nullptr;
  std::byte* place_ = nullptr;
};

}  // namespace tf::test
