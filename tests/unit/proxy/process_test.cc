// SPDX-License-Identifier: Apache-2.0
// The process's session where there is none: no worker, and a child made by fork().
#include "proxy/client/process.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>

#include "proxy/base/thread_state.h"
#include "proxy/exported/api_call.h"
#include "tests/unit/proxy/fake_worker.h"
#include "transport/loopback.h"

namespace tf::proxy {
namespace {

// In a process of its own, because a process decides only once whether it has a worker.
template <typename Body>
int in_child(Body body) {
  pid_t child = ::fork();
  if (child == 0) ::_exit(body());
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(Process, NoWorkerIsSaidOnceAndAnsweredAtOnce) {
  EXPECT_EQ(in_child([] {
              ::setenv("TF_WORKER_SOCKET", "@hip-remote-nobody-listens-here", 1);
              ::setenv("TF_CONNECT_TIMEOUT", "1", 1);
              if (acquire_client() != nullptr) return 1;
              if (no_client_error() != hipErrorNotInitialized) return 2;
              ApiCall call;
              if (call.connected()) return 3;
              if (call.finish() != hipErrorNotInitialized) return 4;
              return thread_state().last_error == hipErrorNotInitialized ? 0 : 5;
            }),
            0);
}

TEST(Process, ForkedChildIsRefusedAndTheParentGoesOn) {
  constexpr std::uint64_t kMemoryBytes = 64ull << 20;
  auto [own_end, worker_end] = make_loopback_pair();
  FakeWorker worker(std::move(worker_end), kMemoryBytes);
  Connected parts;
  parts.endpoint = std::move(own_end);
  parts.snapshot = fake_snapshot(kMemoryBytes);
  Client client(std::move(parts));
  use_client(&client);
  EXPECT_EQ(in_child([] {
              if (acquire_client() != nullptr) return 1;
              end_process();
              return no_client_error() == hipErrorNotInitialized ? 0 : 2;
            }),
            0);
  EXPECT_EQ(acquire_client(), &client);
  EXPECT_EQ(client.connection().call(0, protocol::SynchronizeDeviceRequest{}), hipSuccess);
  EXPECT_FALSE(worker.goodbye);
  use_client(nullptr);
}

}  // namespace
}  // namespace tf::proxy
