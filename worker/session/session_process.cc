// SPDX-License-Identifier: Apache-2.0
// The life of a session process: runtime, client, endpoint, end.
#include "worker/session/session_process.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "hipcore/devices/visible_devices.h"
#include "hipcore/wire/hello.h"
#include "hipcore/wire/protocol_hash.h"
#include "hipcore/wire/shared_files.h"
#include "transport/factory/factory.h"
#include "transport/net/liveness.h"
#include "transport/net/records.h"
#include "transport/net/socket.h"
#include "transport/net/stream.h"
#include "transport/net/transport.h"
#include "transport/secure/session.h"
#include "worker/base/channel.h"
#include "worker/base/exit_codes.h"
#include "worker/base/kernel_output.h"
#include "worker/base/last_words.h"
#include "worker/base/log.h"
#include "worker/base/notices.h"
#include "worker/base/runtime_library.h"
#include "worker/base/share.h"
#include "worker/base/standard_streams.h"
#include "worker/base/weight.h"
#include "worker/memory/host_window.h"
#include "worker/sandbox/sandbox.h"
#include "worker/session/device_facts.h"
#include "worker/session/executor.h"
#include "worker/session/shared_processors.h"
#include "worker/session/visible_device.h"
#include "worker/session/watcher.h"

namespace tf::worker {
namespace {

using namespace std::chrono_literals;

constexpr auto kHelloTime = 5s;
constexpr auto kLanesTime = 15s;  // from the HELLO reply to the last lane

struct Client {
  net::OwnedStream control;
  std::shared_ptr<const secure::Session> session;  // null: it has proven nothing
  std::string whom;                                // who has; for the log
  const Sandbox* sandbox = nullptr;                // around this process; never null
  bool rdma_in_clear = false;
  bool is_local = false;
  bool quiet = false;  // refusals are not worth a line: the supervisor has seen too many
  std::uint64_t session_id = 0;
  protocol::HelloRequest hello;
  const net::Transport* transport = nullptr;
  net::OwnedFd lease_socket;     // our end
  std::unique_ptr<Share> share;  // never null
};

// The control connection carries nothing from HELLO to the last lane, so any event on it is its end.
bool control_ended(int control) {
  pollfd polled{control, POLLIN, 0};
  return ::poll(&polled, 1, 0) > 0;
}

std::string program_of(const Client& client) {
  return fmt::format("\"{}\"[{}], HIP {}, over {}", client.hello.program, client.hello.pid,
                     client.hello.hip_major,
                     client.transport != nullptr ? client.transport->name() : "no transport");
}

std::string describe(const Client& client) {
  if (client.whom.empty()) return fmt::format("session {} ({})", client.session_id, program_of(client));
  return fmt::format("session {} ({}; {}, level {})", client.session_id, program_of(client), client.whom,
                     name(client.session->level));
}

// Whether what the transport carries is as secret as it has to be.
Status judge_secrecy(const Client& client, const net::Transport& transport) {
  if (client.session == nullptr || transport.encrypts()) return Status::ok();
  if (client.session->level == secure::Level::kEncrypt)
    return {Code::kPermission,
            fmt::format("{} cannot encrypt what it carries: use tcp, or the level auth on both "
                        "sides (TF_SECURITY=auth, hip-worker --security auth)",
                        transport.name())};
  if (client.rdma_in_clear || net::stays_on_host(client.control.get())) return Status::ok();
  return {Code::kPermission,
          fmt::format("payload over {} would leave this host in clear, which only the worker's "
                      "operator can allow (hip-worker --rdma-in-clear)",
                      transport.name())};
}

// Whether this client can be served, and through which transport.
Status judge(const Client& client, const net::Transport*& transport) {
  const protocol::HelloRequest& hello = client.hello;
  if (hello.wire_version != kWireVersion)
    return {Code::kUnsupported,
            fmt::format("wire version {} of the client, {} of the worker", hello.wire_version, kWireVersion)};
  if (hello.schema_hash != protocol::kProtocolHash)
    return {
        Code::kUnsupported,
        fmt::format("the client was built with another set of messages ({:016x}, the worker has {:016x}): "
                    "install the same hip-remote release on both sides",
                    hello.schema_hash, protocol::kProtocolHash)};
  // Any address of the client's kind: only Unix or TCP matters.
  const net::Address address =
      client.is_local ? net::Address::unix_socket("@client") : net::Address::tcp("localhost", 1);
  Result<const net::Transport*> chosen = choose(hello.transport, address);
  if (!chosen) return chosen.status();
  transport = *chosen;
  return judge_secrecy(client, *transport);
}

// Client and worker are on one host exactly when they can pass each other descriptors.
protocol::SharedFiles share_memory(Client& client, protocol::WorkerSnapshot& snapshot) {
  protocol::SharedFiles files;
  const bool is_far = (client.hello.capabilities & protocol::kClientIsFar) != 0;
  if (!client.is_local || is_far) {
    mirror_host_window(snapshot);
    snapshot.device_access = protocol::DeviceAccess::kNone;
    return files;
  }
  files.host_window = share_host_window(snapshot);
  if (snapshot.device_access == protocol::DeviceAccess::kNone) return files;
  Result<protocol::LeaseSocket> socket = protocol::make_lease_socket();
  if (socket) {
    client.lease_socket = std::move(socket->worker);
    files.leases = std::move(socket->client);
  } else {
    snapshot.device_access = protocol::DeviceAccess::kNone;
  }
  return files;
}

// The client sees its tenant's part of the devices' memory as all that there is.
void show_share(const Share& share, protocol::WorkerSnapshot& snapshot) {
  for (std::size_t index = 0; index < snapshot.devices.size(); ++index) {
    protocol::DeviceSnapshot& device = snapshot.devices[index];
    const std::uint64_t limit = share.memory_limit(index);
    if (limit != 0) device.total_memory = std::min(device.total_memory, limit);
    device.properties.total_global_mem = std::min(device.properties.total_global_mem, device.total_memory);
    const std::uint64_t others = share.used_by_others(memory_of(static_cast<int>(index)));
    device.free_memory =
        std::min(device.free_memory, device.total_memory - std::min(others, device.total_memory));
  }
}

// Makes the snapshot the client's own.
Status greet(Client& client, protocol::WorkerSnapshot& snapshot) {
  const Deadline deadline = Deadline::after(kHelloTime);
  Result<protocol::HelloRequest> hello = protocol::receive_hello(client.control.stream(), deadline);
  protocol::HelloReply reply;
  Status verdict = hello.status();
  if (hello) {
    client.hello = std::move(*hello);
    verdict = judge(client, client.transport);
  }
  if (!verdict.is_ok()) {
    reply.code = verdict.code();
    reply.message = verdict.message().substr(0, protocol::kHelloMessageBytesMax);
    static_cast<void>(protocol::send_hello_reply(client.control.stream(), reply, deadline));
    return verdict;
  }
  // The supervisor must know the token before the client learns that it may attach.
  ChannelMessage expect;
  expect.kind = Envelope::kExpect;
  expect.attach.token = client.hello.token;
  expect.transport = client.transport->name();
  expect.whom = client.hello.program;
  expect.number = client.hello.pid;
  TF_RETURN_IF_ERROR(send_message(kSessionChannelFd, expect, deadline));
  reply.message = (client.sandbox->text() + protocol::kLimitsAfterWalls + client.sandbox->limits())
                      .substr(0, protocol::kHelloMessageBytesMax);
  reply.transport = client.transport->name();
  reply.session_id = client.session_id;
  reply.limits = limits_text(client.share->limits());
  reply.streams_limited = client.share->of(Limit::kStreams) != 0;
  for (std::size_t index = 0; index < snapshot.devices.size(); ++index)
    client.share->name_device(index, hipcore::uuid_text(snapshot.devices[index].properties.uuid));
  show_share(*client.share, snapshot);
  const protocol::SharedFiles files = share_memory(client, snapshot);
  reply.snapshot = snapshot;
  TF_RETURN_IF_ERROR(protocol::send_hello_reply(client.control.stream(), reply, deadline));
  return protocol::send_shared_files(client.control.get(), snapshot, files, deadline);
}

Result<std::unique_ptr<Endpoint>> gather_lanes(const Client& client) {
  const Deadline deadline = Deadline::after(kLanesTime);
  const std::unique_ptr<net::Acceptor> acceptor =
      client.transport->acceptor({client.hello.token, client.session});
  for (;;) {
    Result<std::unique_ptr<Endpoint>> endpoint = acceptor->finish();
    if (!endpoint || *endpoint != nullptr) return endpoint;
    if (deadline.passed()) return Status(Code::kTimeout, "the client did not open its lanes in time");
    if (control_ended(client.control.get())) return Status(Code::kPeerLost, "the client disconnected");
    Result<ChannelMessage> message =
        receive_message(kSessionChannelFd, deadline.sooner(Deadline::after(100ms)));
    if (message.code() == Code::kTimeout) continue;
    if (!message) return message.status();
    if (message->kind == Envelope::kDrain) return Status(Code::kClosed, "the worker is stopping");
    if (message->kind != Envelope::kLane) continue;
    TF_RETURN_IF_ERROR(acceptor->attach(std::move(message->connection), message->attach));
  }
}

// Reports the runtime's failed kernels to the log and the client. Lives as long as the process.
struct FailureTeller {
  std::string whose;
  Sender& sender;

  static void tell(void* self, int device, hipError_t error, const char* what) {
    auto& teller = *static_cast<FailureTeller*>(self);
    log(LogLevel::kError, "{}: device {} has failed with error {}: {}", teller.whose, device,
        static_cast<int>(error), what);
    send_device_failed(teller.sender, device, error, what);
  }
};

int serve(Client& client, const RuntimeLibrary& runtime, protocol::WorkerSnapshot& snapshot,
          const DispatchTable& handlers, LastWords& words, bool verbose) {
  Status status = greet(client, snapshot);
  if (!status.is_ok()) {
    if (!client.quiet) log(LogLevel::kWarning, "{} refused: {}", describe(client), status.to_string());
    return kExitNoClient;
  }
  words.serve(client.whom.empty() ? program_of(client) : program_of(client) + "; " + client.whom);
  Result<std::unique_ptr<Endpoint>> endpoint = gather_lanes(client);
  if (!endpoint) {
    words.end(endpoint.status().to_string());
    // A client that only looks at the devices may be gone before its lanes are here: no failure.
    const bool has_left = endpoint.code() == Code::kPeerLost;
    if (has_left ? verbose : !client.quiet)
      log(has_left ? LogLevel::kInfo : LogLevel::kWarning, "{} {}: {}", describe(client),
          has_left ? "left before it had started" : "could not start", endpoint.status().to_string());
    return has_left ? 0 : kExitNoClient;
  }
  if (const Status sealed = client.sandbox->seal(); !sealed.is_ok())
    log(LogLevel::kWarning, "{}: it may make system calls through an io_uring: {}", describe(client),
        sealed.to_string());
  client.share->call(describe(client));
  if (SessionTally* const tally = words.tally(); tally != nullptr) client.share->count_in(*tally);
  if (verbose) log("{} started", describe(client));
  // Never destroyed: kernels may print until the process is gone.
  KernelOutput& output = *std::make_unique<KernelOutput>().release();
  if (!capture_standard_streams(output))
    log(LogLevel::kWarning, "{}: what kernels print is written here", describe(client));
  // Never destroyed: waiter and callback threads may still be inside the runtime when the process leaves.
  MemoryBroker broker(kSessionChannelFd);
  SessionSetup setup{runtime.hip(),
                     runtime.optional(),
                     snapshot,
                     **endpoint,
                     &broker,
                     std::move(client.lease_socket),
                     &output,
                     words.tally(),
                     client.share.get(),
                     client.sandbox->compilers()};
  auto* executor = std::make_unique<Executor>(std::move(setup), handlers).release();
  if (std::atomic<std::int32_t>* const shown = words.device()) executor->state().device.show(*shown);
  if (SessionTally* const tally = words.tally(); tally != nullptr && runtime.optional().show_busy_time) {
    runtime.optional().show_busy_time(&tally->device_ns);
    tally->has_device.store(1, std::memory_order_relaxed);
  }
  if (runtime.optional().tell_failures != nullptr)
    runtime.optional().tell_failures(
        &FailureTeller::tell,
        std::make_unique<FailureTeller>(FailureTeller{describe(client), executor->state().sender}).release());
  {
    Watcher watcher(*executor, **endpoint, broker, output, client.control.stream(), words);
    status = executor->run();
  }
  output.close();
  words.end(status.is_ok() ? kClientLeft : status.to_string());
  const bool normal = status.is_ok() || status.code() == Code::kPeerLost || status.code() == Code::kClosed;
  if (!normal || verbose)
    log(normal ? LogLevel::kInfo : LogLevel::kWarning, "{} ended: {}", describe(client), status.to_string());
  if (verbose) log("{} had {}", describe(client), client.share->text());
  executor->state().sender.close();  // those threads may still have replies
  endpoint->reset();  // what was published before still goes out, and the peer learns of the end
  return normal ? 0 : kExitBroken;
}

// The control connection, in records if its client has proven a key.
Status take_keys(ChannelMessage& message, Client& client) {
  client.whom = message.whom;
  if (message.session.level == secure::Level::kNone) {
    client.control = std::move(message.connection);
    return Status::ok();
  }
  client.session = std::make_shared<const secure::Session>(message.session);
  TF_RETURN_IF_ERROR(secure::load_library());
  Result<std::unique_ptr<net::Records>> records = net::Records::make(*client.session, secure::Side::kWorker);
  if (!records) return records.status();
  client.control = net::OwnedStream(std::move(message.connection), std::move(*records));
  return Status::ok();
}

Status take_grant(const ChannelMessage& message, std::unique_ptr<Share>& share) {
  Result<TenantPage> page = message.connection ? TenantPage::open(message.connection, message.grant.slot)
                                               : Result<TenantPage>(TenantPage::alone());
  if (!page) return page.status();
  share = std::make_unique<Share>(message.grant.limits, message.grant.devices, std::move(*page));
  // Threads that are started from now on get it from this one.
  const std::uint64_t weight = share->of(Limit::kWeight);
  const int nice = ::getpriority(PRIO_PROCESS, 0) + nice_of_weight(weight);
  if (weight != 0 && ::setpriority(PRIO_PROCESS, 0, nice) != 0)
    return Status::from_errno("a weight of " + std::to_string(weight), errno);
  return Status::ok();
}

void show_devices(LastWords& words, const protocol::WorkerSnapshot& snapshot) {
  std::vector<FoundDevice> found;
  for (const protocol::DeviceSnapshot& device : snapshot.devices)
    found.push_back({device.total_memory, {device.pci_bus_id, device.properties.gcn_arch_name}});
  words.show_devices(found);
}

// Waits as long as it takes for the supervisor to pass a client. Not ok: none will come.
Result<Client> wait_for_client() {
  auto share = std::make_unique<Share>();
  for (;;) {
    Result<ChannelMessage> message = receive_message(kSessionChannelFd, Deadline::never());
    if (!message) return message.status();
    if (message->kind == Envelope::kDrain) return Status(Code::kClosed, "the worker is stopping");
    if (message->kind == Envelope::kGrant) TF_RETURN_IF_ERROR(take_grant(*message, share));
    if (message->kind != Envelope::kControl) continue;
    ChannelMessage taken;
    taken.kind = Envelope::kTaken;
    TF_RETURN_IF_ERROR(send_message(kSessionChannelFd, taken, Deadline::after(kHelloTime)));
    Client client;
    if (Status opened = take_keys(*message, client); !opened.is_ok()) return opened;
    client.is_local = message->is_local;
    client.quiet = message->quiet;
    client.session_id = message->session_id;
    client.share = std::move(share);
    return client;
  }
}

}  // namespace

int run_session_process(const Options& options, const DispatchTable& handlers) {
  if (::fcntl(kSessionChannelFd, F_SETFD, FD_CLOEXEC) != 0) {
    log(LogLevel::kError, "--session is hip-worker's own option");
    return 2;
  }
  // The supervisor's log can do without, and has said so if there is no page.
  Result<LastWords> opened = LastWords::open(net::OwnedFd(kLastWordsFd));
  const net::OwnedFd turns = options.turns ? take_page_of_turns() : net::OwnedFd();
  LastWords words = opened ? std::move(*opened) : LastWords();
  Sandbox sandbox(options.sandbox);
  sandbox.enter(options.runtime);
  if (!options.devices.empty()) show_only(options.devices);
  Result<RuntimeLibrary> runtime = RuntimeLibrary::load(options.runtime);
  if (!runtime) {
    log(LogLevel::kError, "--runtime {}: {}", options.runtime, runtime.status().message());
    return kExitNoRuntime;
  }
  protocol::WorkerSnapshot snapshot = take_snapshot(*runtime);
  if (!options.devices.empty()) {
    if (const Status only = check_only(options.devices, *runtime, snapshot); !only.is_ok()) {
      log(LogLevel::kError, "{}", only.message());
      return kExitNoRuntime;
    }
  }
  reserve_windows(runtime->hip(), runtime->optional().vmm, snapshot);
  reserve_host_window(snapshot);
  snapshot.fine_grained = has_fine_grained(runtime->optional()) ? 1 : 0;
  if (options.verbose)
    log("runtime {} ({}), {} devices, leases {}, {} functions missing", runtime->name(), runtime->path(),
        snapshot.devices.size(), snapshot.vmm_leases != 0 ? "in address windows" : "as allocations",
        runtime->missing().size());

  sandbox.close();
  if (options.sandbox.required && !sandbox.complete()) {
    log(LogLevel::kError, "--require-sandbox: walls around sessions: {}", sandbox.text());
    return kExitNoWalls;
  }
  show_devices(words, snapshot);
  ChannelMessage ready;
  ready.kind = Envelope::kReady;
  ready.whom = sandbox.text() + protocol::kLimitsAfterWalls + sandbox.limits();
  ready.number = snapshot.devices.size();
  if (!send_message(kSessionChannelFd, ready, Deadline::after(kHelloTime)).is_ok()) return 0;
  Result<Client> client = wait_for_client();
  if (!client) {
    if (client.code() != Code::kClosed && client.code() != Code::kPeerLost)
      log(LogLevel::kError, "{}", client.status().message());
    return 0;
  }
  client->rdma_in_clear = options.keys.rdma_in_clear;
  client->sandbox = &sandbox;
  // Limits how long an unreachable client host goes unnoticed; works without it too.
  static_cast<void>(net::watch_silence(client->control.get(), options.io_timeout));
  if (options.turns) {
    const std::uint64_t weight = client->share->of(Limit::kWeight);
    if (const Status shared = share_processors(runtime->optional(), turns, *options.turns, weight); !shared)
      log(LogLevel::kWarning, "{}", shared.message());
  }
  return serve(*client, *runtime, snapshot, handlers, words, options.verbose);
}

}  // namespace tf::worker
