// SPDX-License-Identifier: Apache-2.0
// The log that a program of HIP 7.14 switches on, and the function that debuggers stop in when HIP answers an
// error.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <string>
#include <vector>

#include "tests/majors/major.h"

namespace {

struct Information {
  int code;
  const char* name;
  const char* text;
};
std::vector<std::string> stopped;

}  // namespace

// In front of the library's, as a debugger's breakpoint is.
extern "C" __attribute__((visibility("default"))) void __hipOnError(void* information) {
  const auto& found = *static_cast<const Information*>(information);
  stopped.push_back(std::to_string(found.code) + " " + found.name + ": " + found.text);
}

namespace tf::majors {
namespace {

// What is written to standard error in its life.
class Written {
 public:
  Written() : file_(::memfd_create("written", MFD_CLOEXEC)), before_(::dup(STDERR_FILENO)) {
    EXPECT_GE(::dup2(file_, STDERR_FILENO), 0);
  }
  ~Written() {
    ::dup2(before_, STDERR_FILENO);
    ::close(before_);
    ::close(file_);
  }
  Written(const Written&) = delete;
  Written& operator=(const Written&) = delete;
  std::string text() const {
    std::array<char, 4096> bytes{};
    const ssize_t count = ::pread(file_, bytes.data(), bytes.size(), 0);
    return {bytes.data(), count > 0 ? static_cast<std::size_t>(count) : 0};
  }

 private:
  int file_;
  int before_;
};

class Logging : public Major {
 protected:
  void SetUp() override {
    Major::SetUp();
    if (major_ < 7) GTEST_SKIP() << "the functions are of HIP 7";
    EXPECT_EQ(get<hipError_t(int*)>("hipGetDevice")(&device_), hipSuccess);
  }
  void TearDown() override {
    if (major_ >= 7) disable();
  }
  void wish(std::size_t level, std::size_t mask) const {
    using Set = hipError_t(std::size_t, std::size_t, std::size_t);
    EXPECT_EQ(get<Set>("hipExtSetLoggingParams")(level, 0, mask), hipSuccess);
  }
  void enable() const { EXPECT_EQ(get<hipError_t()>("hipExtEnableLogging")(), hipSuccess); }
  void disable() const { EXPECT_EQ(get<hipError_t()>("hipExtDisableLogging")(), hipSuccess); }
  void fail() const { EXPECT_EQ(get<hipError_t(int)>("hipSetDevice")(77), hipErrorInvalidDevice); }

  int device_ = 0;
};

TEST_F(Logging, ErrorsAreLinesWhileItIsOn) {
  const Written written;
  wish(4, ~std::size_t{0});
  fail();
  EXPECT_EQ(written.text(), "") << "it is not on yet";
  enable();
  fail();
  disable();
  const std::string lines = written.text();
  EXPECT_NE(lines.find("returned hipErrorInvalidDevice"), std::string::npos) << lines;
  fail();
  EXPECT_EQ(written.text(), lines);
}

TEST_F(Logging, TheLevelDecides) {
  const Written written;
  wish(0, ~std::size_t{0});
  enable();
  fail();
  EXPECT_EQ(written.text(), "");
}

TEST_F(Logging, ADebuggerStopsAtErrors) {
  stopped.clear();
  EXPECT_EQ(get<hipError_t(int)>("hipSetDevice")(0), hipSuccess);
  EXPECT_EQ(stopped, std::vector<std::string>{});
  fail();
  EXPECT_EQ(stopped, std::vector<std::string>{"101 hipErrorInvalidDevice: invalid device ordinal"});
}

}  // namespace
}  // namespace tf::majors
