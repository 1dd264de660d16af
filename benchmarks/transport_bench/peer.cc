// SPDX-License-Identifier: Apache-2.0
// The two ends of a transport benchmark; one runs in a second process.
#include "benchmarks/transport_bench/peer.h"

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include "benchmarks/placement.h"
#include "transport/base/processor.h"
#include "transport/factory/factory.h"
#include "transport/net/socket.h"

namespace tf::bench {
namespace {

constexpr std::chrono::seconds kStepLimit{30};  // connecting takes no longer than this
constexpr std::chrono::minutes kRunLimit{60};   // and no run than this

enum Opcode : std::uint16_t { kEcho = 1, kCount = 2, kReport = 3, kBulk = 4, kQuit = 5, kFetch = 6 };

// The argument of kBulk and kFetch.
constexpr unsigned kCountShift = 48;

std::uint64_t pack(const Stream& stream) { return std::uint64_t{stream.count} << kCountShift | stream.bytes; }
Stream unpack(std::uint64_t argument) {
  return {.count = std::clamp<unsigned>(static_cast<unsigned>(argument >> kCountShift), 1, kStreamMax),
          .bytes = argument & ((std::uint64_t{1} << kCountShift) - 1)};
}

// One end of a stream: the next payload begins when the oldest of kStreamWindow has ended. After a failure
// the endpoint has failed, too, and holds none of the completions any more. `Begin`: Status(place,
// completion), for a payload whose place in memory is the place-th.
template <typename Begin>
class StreamEnd {
 public:
  StreamEnd(Endpoint& endpoint, Deadline deadline, unsigned count, Begin begin)
      : endpoint_(endpoint), deadline_(deadline), count_(count), begin_(std::move(begin)) {}

  // As many as may be under way.
  Status start() {
    Status status;
    while (status.is_ok() && begun_ < std::min(count_, kStreamWindow)) status = begin_next();
    return keep(std::move(status));
  }
  // The others, and the end of all.
  Status finish() {
    Status status;
    for (unsigned ended = 0; status.is_ok() && ended < count_; ++ended) {
      status = await(*completions_[ended % kStreamWindow]);
      if (status.is_ok() && begun_ < count_) status = begin_next();
    }
    return keep(std::move(status));
  }

 private:
  Status begin_next() {
    const unsigned place = begun_++ % kStreamWindow;
    return begin_(place, completions_[place].emplace());
  }
  Status await(const BulkCompletion& completion) {
    while (!completion.done()) {
      Result<std::size_t> moved = endpoint_.bulk().move_payload();
      if (!moved) return moved.status();
      if (*moved == 0 && !completion.done()) TF_RETURN_IF_ERROR(endpoint_.wait(Interest::kBulk, deadline_));
    }
    return completion.status();
  }
  Status keep(Status status) {
    if (!status.is_ok()) endpoint_.fail(status);
    return status;
  }

  Endpoint& endpoint_;
  const Deadline deadline_;
  const unsigned count_;
  unsigned begun_ = 0;
  Begin begin_;
  std::array<std::optional<BulkCompletion>, kStreamWindow> completions_;
};

const net::Transport* find(const std::string& name) {
  for (const net::Transport* transport : transports()) {
    if (transport->name() == name) return transport;
  }
  return nullptr;
}

// The deadline comes from outside: to read the clock takes as long as to send a message.
Status post_message(Endpoint& endpoint, std::uint16_t opcode, std::size_t bytes, std::uint64_t argument,
                    MessageSink& sink, Deadline deadline) {
  for (;;) {
    Result<Slot> slot = endpoint.reserve(bytes);
    if (slot) {
      FrameHeader header;
      header.opcode = opcode;
      header.payload_length = bytes - kFrameHeaderBytes;
      write_header(header, slot->bytes.data());
      if (bytes >= kFrameHeaderBytes + sizeof argument)
        std::memcpy(slot->bytes.data() + kFrameHeaderBytes, &argument, sizeof argument);
      endpoint.publish(*slot);
      return Status::ok();
    }
    if (slot.code() != Code::kWouldBlock) return slot.status();
    Result<std::size_t> polled = endpoint.poll(sink, 1);
    if (!polled) return polled.status();
    if (*polled == 0) TF_RETURN_IF_ERROR(endpoint.wait(Interest::kMessages, deadline));
  }
}

// The peer process: serves until kQuit or a failure.
class Server final : public MessageSink {
 public:
  explicit Server(Endpoint& endpoint) : endpoint_(endpoint) {}

  ~Server() {
    if (!memory_.empty()) endpoint_.bulk().forget(memory_);
  }
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  Status serve() {
    if (endpoint_.capabilities().steady_mover) stay_on_this_processor();  // as a worker's mover does
    while (!quit_) {
      Result<std::size_t> polled = endpoint_.poll(*this, 256);
      if (!polled) return polled.status();
      if (*polled > 0 || quit_) continue;
      Status waited = endpoint_.wait(Interest::kMessages, deadline_);
      if (!waited.is_ok()) return waited;
    }
    return Status::ok();
  }

  Status on_message(const FrameHeader& header, std::span<const std::byte> payload) override {
    std::uint64_t argument = 0;
    if (payload.size() >= sizeof argument) std::memcpy(&argument, payload.data(), sizeof argument);
    switch (header.opcode) {
      case kEcho: return answer(kFrameHeaderBytes + payload.size(), argument);
      case kCount: ++counted_; return Status::ok();
      case kReport: return answer(kFrameHeaderBytes + sizeof counted_, counted_);
      case kBulk: return receive(argument);
      case kFetch: return send(argument);
      case kQuit: quit_ = true; return Status::ok();
      default: return {Code::kProtocol, "unknown opcode"};
    }
  }

 private:
  Status answer(std::size_t bytes, std::uint64_t argument) {
    return post_message(endpoint_, kEcho, bytes, argument, *this, deadline_);
  }

  Status receive(std::uint64_t argument) {
    TF_RETURN_IF_ERROR(move(argument, [this](std::span<std::byte> target, BulkCompletion& completion) {
      return endpoint_.bulk().receive(++tag_, target, completion);
    }));
    return answer(kFrameHeaderBytes + 8, argument);
  }

  Status send(std::uint64_t argument) {
    return move(argument, [this](std::span<std::byte> source, BulkCompletion& completion) {
      return endpoint_.bulk().send(++send_tag_, source, completion);
    });
  }

  template <typename Transfer>
  Status move(std::uint64_t argument, Transfer&& transfer) {
    const Stream stream = unpack(argument);
    grow(std::min(stream.count, kStreamWindow) * stream.bytes);
    const auto begin = [&](unsigned place, BulkCompletion& completion) {
      return transfer(std::span(memory_).subspan(place * stream.bytes, stream.bytes), completion);
    };
    StreamEnd end(endpoint_, deadline_, stream.count, begin);
    TF_RETURN_IF_ERROR(end.start());
    return end.finish();
  }

  // Registered once with a device, as a worker's staging is.
  void grow(std::uint64_t bytes) {
    if (memory_.size() >= bytes) return;
    if (!memory_.empty()) endpoint_.bulk().forget(memory_);
    memory_.resize(bytes);
    endpoint_.bulk().remember(memory_);
  }

  Endpoint& endpoint_;
  Deadline deadline_ = Deadline::after(kRunLimit);
  std::vector<std::byte> memory_;
  std::uint64_t counted_ = 0;
  std::uint64_t tag_ = 0;
  std::uint64_t send_tag_ = 0;
  bool quit_ = false;
};

class ReplySink final : public MessageSink {
 public:
  Status on_message(const FrameHeader&, std::span<const std::byte>) override {
    ++replies_;
    return Status::ok();
  }
  bool empty() const { return replies_ == 0; }

 private:
  std::uint64_t replies_ = 0;
};

// The parent cannot say which of them a transport needs before the peer exists: see Peer::start().
struct Doors {
  net::Listener local;
  net::Listener tcp;
};

Status accept_lanes(net::Listener& listener, net::Acceptor& acceptor, std::unique_ptr<Endpoint>& endpoint) {
  const Deadline deadline = Deadline::after(kStepLimit);
  while (endpoint == nullptr) {
    TF_RETURN_IF_ERROR(net::wait_readable(listener.fd(), deadline));
    Result<net::OwnedFd> socket = listener.accept();
    if (!socket) return socket.status();
    Result<net::Attach> attach = net::read_attach(socket->get(), deadline);
    if (!attach) return attach.status();
    TF_RETURN_IF_ERROR(acceptor.attach(std::move(*socket), *attach));
    Result<std::unique_ptr<Endpoint>> finished = acceptor.finish();
    if (!finished) return finished.status();
    endpoint = std::move(*finished);
  }
  return Status::ok();
}

// Both ends ask the transport: over TCP if it can be.
bool goes_over_tcp(const net::Transport& transport) {
  return transport.reaches(net::Address::tcp("127.0.0.1", 1)).is_ok();  // any port
}

Status serve(Doors& doors, const std::string& name, const net::Token& token, bool pin) {
  // The transports of this process are looked up here: they read the environment when they are first looked
  // at.
  const net::Transport* const transport = find(name);
  if (transport == nullptr) return {Code::kInvalidArgument, "no transport " + name};
  net::Listener& listener = goes_over_tcp(*transport) ? doors.tcp : doors.local;
  TF_RETURN_IF_ERROR(net::wait_readable(listener.fd(), Deadline::after(kRunLimit)));
  if (pin) pin_to(Processor::kLast);
  std::unique_ptr<Endpoint> endpoint;
  std::unique_ptr<net::Acceptor> acceptor = transport->acceptor(token);
  TF_RETURN_IF_ERROR(accept_lanes(listener, *acceptor, endpoint));
  return Server(*endpoint).serve();
}

int run_peer(Doors doors, const std::string& name, const net::Token& token, bool pin) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  const Status status = serve(doors, name, token, pin);
  if (!status.is_ok()) std::fprintf(stderr, "transport_bench peer: %s\n", status.to_string().c_str());
  return status.is_ok() ? 0 : 1;
}

void set_environment(const std::vector<std::string>& environment) {
  for (const std::string& word : environment) {
    const std::size_t equals = word.find('=');
    if (equals != std::string::npos) ::setenv(word.substr(0, equals).c_str(), word.c_str() + equals + 1, 1);
  }
}

}  // namespace

Result<Peer> Peer::start(const std::string& transport, bool pin,
                         const std::vector<std::string>& environment) {
  static int started = 0;
  const std::string unix_name =
      "@hip-remote-bench-" + std::to_string(::getpid()) + '-' + std::to_string(started++);
  Result<net::Listener> local = net::Listener::open(net::Address::unix_socket(unix_name));
  if (!local) return local.status();
  Result<net::Listener> tcp = net::Listener::open(net::Address::tcp("127.0.0.1", 0));
  if (!tcp) return tcp.status();
  Result<net::Token> token = net::Token::random();
  if (!token) return token.status();
  const Addresses addresses{local->address(), tcp->address()};
  const pid_t child = ::fork();
  if (child < 0) return Status::from_errno("fork", errno);
  if (child == 0) {
    set_environment(environment);
    ::_exit(run_peer({std::move(*local), std::move(*tcp)}, transport, *token, pin));
  }
  return Peer(child, transport, pin, addresses, *token);
}

Peer::Peer(pid_t child, std::string transport, bool pin, Addresses addresses, const net::Token& token)
    : child_(child),
      transport_(std::move(transport)),
      pin_(pin),
      addresses_(std::move(addresses)),
      token_(token) {}

Peer::Peer(Peer&& other) noexcept
    : child_(std::exchange(other.child_, -1)),
      transport_(std::move(other.transport_)),
      pin_(other.pin_),
      addresses_(std::move(other.addresses_)),
      token_(other.token_) {}

Peer::~Peer() {
  if (child_ < 0) return;
  ::kill(child_, SIGKILL);
  ::waitpid(child_, nullptr, 0);
}

Result<std::unique_ptr<Endpoint>> Peer::connect() const {
  if (pin_) pin_to(Processor::kFirst);
  const net::Transport* const transport = find(transport_);
  if (transport == nullptr) return Status{Code::kInvalidArgument, "no transport " + transport_};
  TF_RETURN_IF_ERROR(transport->available());
  const net::Address& address = goes_over_tcp(*transport) ? addresses_.tcp : addresses_.local;
  return transport->connect(address, token_, Deadline::after(kStepLimit));
}

bool Peer::wait() {
  int status = 0;
  return ::waitpid(std::exchange(child_, -1), &status, 0) > 0 && status == 0;
}

Client::Client(Endpoint& endpoint) : endpoint_(endpoint), deadline_(Deadline::after(kRunLimit)) {}

void Client::post(std::uint16_t opcode, std::size_t bytes, std::uint64_t argument) {
  ReplySink sink;
  if (failure_.is_ok()) failure_ = post_message(endpoint_, opcode, bytes, argument, sink, deadline_);
}

void Client::await_reply() {
  ReplySink sink;
  while (failure_.is_ok() && sink.empty()) {
    Result<std::size_t> polled = endpoint_.poll(sink, 1);
    if (!polled) {
      failure_ = polled.status();
    } else if (*polled == 0) {
      failure_ = endpoint_.wait(Interest::kMessages, deadline_);
    }
  }
}

void Client::round_trip(std::size_t bytes) {
  post(kEcho, bytes, 0);
  await_reply();
}

void Client::post_and_count(std::size_t bytes, std::uint64_t count) {
  for (std::uint64_t message = 0; message < count && failure_.is_ok(); ++message)
    post(kCount, bytes, message);
  post(kReport, kFrameHeaderBytes + 8, 0);
  await_reply();
}

// The peer hears of it when as many have begun as may be under way.
template <typename Memory, typename Transfer>
void Client::stream(std::uint16_t opcode, Memory memory, const Stream& stream, Transfer&& transfer) {
  if (!failure_.is_ok()) return;
  StreamEnd end(endpoint_, deadline_, stream.count, [&](unsigned place, BulkCompletion& completion) {
    return transfer(memory.subspan(place * stream.bytes, stream.bytes), completion);
  });
  failure_ = end.start();
  post(opcode, kFrameHeaderBytes + 8, pack(stream));
  if (failure_.is_ok()) failure_ = end.finish();
}

void Client::send_bulk(std::span<const std::byte> memory, std::uint64_t bytes, unsigned count) {
  stream(kBulk, memory, {.count = count, .bytes = bytes},
         [this](std::span<const std::byte> source, BulkCompletion& completion) {
           return endpoint_.bulk().send(++tag_, source, completion);
         });
  await_reply();
}

void Client::receive_bulk(std::span<std::byte> memory, std::uint64_t bytes, unsigned count) {
  stream(kFetch, memory, {.count = count, .bytes = bytes},
         [this](std::span<std::byte> target, BulkCompletion& completion) {
           return endpoint_.bulk().receive(++receive_tag_, target, completion);
         });
}

void Client::quit() { post(kQuit, kFrameHeaderBytes + 8, 0); }

}  // namespace tf::bench
