// SPDX-License-Identifier: Apache-2.0
#include "tests/conformance/fixture.h"

#include <poll.h>
#include <unistd.h>

#include <thread>
#include <utility>

#include "tests/support/peer_process.h"
#include "transport/loopback.h"

namespace tf::conformance {
namespace {

constexpr std::chrono::seconds kHalfTimeout(60);

#if defined(TF_THREAD_SANITIZER)
constexpr bool kThreadSanitizer = true;
#else
constexpr bool kThreadSanitizer = false;
#endif

net::Token fixed_token() {
  net::Token token;
  token.bytes.fill(7);  // the child must know it too
  return token;
}

}  // namespace

// --- Cases ----------------------------------------------------------------------------------------------

std::vector<Case> in_process_cases() {
  std::vector<Case> cases;
  for (const Backend& backend : backends()) cases.push_back({.backend = &backend, .form = Form::kInProcess});
  return cases;
}

std::vector<Case> with_lanes() {
  std::vector<Case> cases = in_process_cases();
  std::erase_if(cases, [](const Case& each) { return !each.backend->transport; });
  return cases;
}

std::vector<Case> two_process_cases() {
  std::vector<Case> cases;
  for (const Backend& backend : backends())
    if (backend.transport) cases.push_back({.backend = &backend, .form = Form::kTwoProcesses});
  return cases;
}

std::vector<Case> all_cases() {
  std::vector<Case> cases = in_process_cases();
  for (const Case& two : two_process_cases()) cases.push_back(two);
  return cases;
}

std::string case_name(const testing::TestParamInfo<Case>& info) {
  return info.param.backend->name + (info.param.form == Form::kInProcess ? "_threads" : "_processes");
}

// --- Gate -----------------------------------------------------------------------------------------------

Gate::Gate() { EXPECT_EQ(::pipe(pipe_.data()), 0); }

Gate::~Gate() {
  ::close(pipe_[0]);
  ::close(pipe_[1]);
}

void Gate::open() const { EXPECT_EQ(::write(pipe_[1], "x", 1), 1); }

bool Gate::wait() const {
  pollfd entry{.fd = pipe_[0], .events = POLLIN, .revents = 0};
  const bool opened = ::poll(&entry, 1, 10'000) == 1;
  EXPECT_TRUE(opened) << "the other half never opened the gate";
  return opened;
}

bool Gate::is_open() const {
  pollfd entry{.fd = pipe_[0], .events = POLLIN, .revents = 0};
  return ::poll(&entry, 1, 0) == 1;
}

// --- Fixture --------------------------------------------------------------------------------------------

void Conformance::SetUp() {
  const Backend& backend = *GetParam().backend;
  if (two_processes() && kThreadSanitizer)
    GTEST_SKIP() << "the thread sanitizer sees one process at a time, and allows a forked one no threads";
  if (two_processes() && !backend.one_process_only.empty())
    GTEST_SKIP() << backend.name << ": " << backend.one_process_only;
  if (!backend.transport) return;
  const Status available = backend.transport().available();
  if (!available.is_ok()) GTEST_SKIP() << backend.name << ": " << available.message();
}

void Conformance::TearDown() {
  if (GetParam().backend->check) GetParam().backend->check();
}

test::EndpointPair Conformance::make_pair() const {
  const Backend& backend = *GetParam().backend;
  if (!backend.transport) {
    auto [client, server] = make_loopback_pair();
    return {.client = backend.client(std::move(client)), .server = std::move(server)};
  }
  Result<net::Listener> listener = backend.listen();
  EXPECT_OK(listener.status());
  if (!listener) return {};
  Result<test::EndpointPair> pair = test::connect_pair(backend.transport(), *listener);
  EXPECT_OK(pair.status());
  if (!pair) return {};
  return {.client = backend.client(std::move(pair->client)), .server = std::move(pair->server)};
}

void Conformance::run(const Half& client, const Half& server) const {
  if (two_processes()) {
    run_and_kill([&](std::unique_ptr<Endpoint> endpoint,
                     const std::function<void()>&) { client(std::move(endpoint)); },
                 server);
    return;
  }
  test::EndpointPair pair = make_pair();
  ASSERT_TRUE(pair.client && pair.server);
  std::thread serving([&] { server(std::move(pair.server)); });
  client(std::move(pair.client));
  serving.join();
}

void Conformance::run_and_kill(const ClientWithKill& client, const Half& server) const {
  const Backend& backend = *GetParam().backend;
  const net::Token token = fixed_token();
  Result<net::Listener> listener = backend.listen();
  ASSERT_OK(listener.status());
  const Deadline deadline = Deadline::after(test::kConnectTimeout);
  test::PeerProcess peer = test::PeerProcess::start([&] {
    Result<std::unique_ptr<Endpoint>> endpoint =
        test::accept_endpoint(*listener, backend.transport(), token, deadline);
    ASSERT_OK(endpoint.status());
    server(std::move(*endpoint));
  });
  ASSERT_TRUE(peer.started());
  Result<std::unique_ptr<Endpoint>> endpoint =
      backend.transport().connect(listener->address(), token, deadline);
  ASSERT_OK(endpoint.status());
  bool killed = false;
  client(backend.client(std::move(*endpoint)), [&] {
    killed = true;
    peer.kill();
  });
  if (!killed) {
    EXPECT_EQ(peer.wait(kHalfTimeout), 0) << "the server half failed in its process";
  }
}

}  // namespace tf::conformance
