// SPDX-License-Identifier: Apache-2.0
// Every test body is two halves, a client's and a server's, which run as two threads of one process or as
// two processes. GoogleTest expectations work in both halves and both forms.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tests/conformance/backends.h"
#include "tests/support/peer.h"

namespace tf::conformance {

enum class Form { kInProcess, kTwoProcesses };

struct Case {
  const Backend* backend = nullptr;
  Form form = Form::kInProcess;
};

// All backends in all forms; one form only for tests that need it.
std::vector<Case> all_cases();
std::vector<Case> in_process_cases();
std::vector<Case> two_process_cases();
std::vector<Case> with_lanes();  // in one process, without the loopback
std::string case_name(const testing::TestParamInfo<Case>& info);

// Lets one half wait for the other without using the endpoint. Made before the halves are.
class Gate {
 public:
  Gate();
  ~Gate();
  Gate(const Gate&) = delete;
  Gate& operator=(const Gate&) = delete;
  void open() const;
  // False after ten seconds.
  bool wait() const;
  bool is_open() const;

 private:
  std::array<int, 2> pipe_{};
};

class Conformance : public testing::TestWithParam<Case> {
 protected:
  using Half = std::function<void(std::unique_ptr<Endpoint>)>;

  void SetUp() override;
  void TearDown() override;
  // Runs both halves, the server's on a thread or in a child process, and waits for them.
  void run(const Half& client, const Half& server) const;
  // Two processes only: the client half also gets a function that kills the server's process.
  using ClientWithKill =
      std::function<void(std::unique_ptr<Endpoint>, const std::function<void()>& kill_server)>;
  void run_and_kill(const ClientWithKill& client, const Half& server) const;
  bool two_processes() const { return GetParam().form == Form::kTwoProcesses; }
  // In-process pair.
  test::EndpointPair make_pair() const;
};

}  // namespace tf::conformance

#define EXPECT_OK(expression)                                  \
  do {                                                         \
    const ::tf::Status tf_expect_ = (expression);              \
    EXPECT_TRUE(tf_expect_.is_ok()) << tf_expect_.to_string(); \
  } while (false)
#define ASSERT_OK(expression)                                  \
  do {                                                         \
    const ::tf::Status tf_assert_ = (expression);              \
    ASSERT_TRUE(tf_assert_.is_ok()) << tf_assert_.to_string(); \
  } while (false)
#define ASSERT_CODE(expression, wanted)                                                     \
  do {                                                                                      \
    const ::tf::Status tf_assert_ = (expression);                                           \
    ASSERT_EQ(::tf::name(tf_assert_.code()), ::tf::name(wanted)) << tf_assert_.to_string(); \
  } while (false)
#define EXPECT_CODE(expression, wanted)                                                     \
  do {                                                                                      \
    const ::tf::Status tf_expect_ = (expression);                                           \
    EXPECT_EQ(::tf::name(tf_expect_.code()), ::tf::name(wanted)) << tf_expect_.to_string(); \
  } while (false)
