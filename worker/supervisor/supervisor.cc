// SPDX-License-Identifier: Apache-2.0
// Starts and watches session processes.
#include "worker/supervisor/supervisor.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>
#include <string>
#include <utility>

#include "hipcore/wire/hello.h"
#include "transport/base/processor.h"
#include "worker/base/exit_codes.h"
#include "worker/base/log.h"
#include "worker/supervisor/descriptor_limit.h"
#include "worker/supervisor/own_image.h"

namespace tf::worker {
namespace {

constexpr int kPollMax_ms = 1000;
constexpr int kMessagesPerTurn = 256;  // of one session process, so that none keeps the others waiting

}  // namespace

Supervisor::~Supervisor() {
  smi_.stop();
  for (const auto& [pid, child] : children_) ::kill(pid, SIGKILL);
}

Status Supervisor::open() {
  const Result<std::size_t> descriptors = raise_descriptor_limit();
  if (!descriptors) return descriptors.status();
  intake_.set_seats(seats_per_door(descriptors.value(), options_.sessions_max));
  TF_RETURN_IF_ERROR(take_listeners());
  if (!options_.keys.key_file.empty() && options_.tcp) {
    Result<std::unique_ptr<Gate>> gate = Gate::open(options_.keys);
    if (!gate) return gate.status();
    gate_ = std::move(*gate);
  }
  intake_.count_in(metrics_);
  TF_RETURN_IF_ERROR(open_listeners());
  TF_RETURN_IF_ERROR(open_metrics());
  keep_spares();
  strays_.adopt();
  if (const Status opened = folders_.open(); !opened)
    log(LogLevel::kWarning, "sessions have no folder for files, so their programs are not compiled here: {}",
        opened.message());
  TF_RETURN_IF_ERROR(open_limits());
  const sigset_t set = handled_signals();
  if (::sigprocmask(SIG_BLOCK, &set, nullptr) != 0) return Status::from_errno("sigprocmask", errno);
  signals_ = net::OwnedFd(::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!signals_) return Status::from_errno("signalfd", errno);
  open_turns();  // the last: see start() for the number of its descriptor
  if (options_.ready_fd > STDERR_FILENO && ::fcntl(options_.ready_fd, F_SETFD, FD_CLOEXEC) != 0)
    return Status::from_errno("--ready-fd", errno);
  return Status::ok();
}

void Supervisor::open_turns() {
  const Result<std::string> own = own_cgroup();
  const std::optional<unsigned> granted = own ? processors_granted(own.value()) : std::nullopt;
  const unsigned usable = usable_processors();
  Result<TurnTable> turns = TurnTable::make(std::min(usable, granted.value_or(usable)));
  if (turns)
    turns_ = std::move(*turns);
  else
    log(LogLevel::kWarning, "sessions share the host's processors as its scheduler has it: {}",
        turns.status().to_string());
}

Status Supervisor::run() {
  while (!stopping_ && failure_.is_ok()) TF_RETURN_IF_ERROR(round());
  Status down = shut_down();
  return failure_.is_ok() ? down : failure_;
}

// One turn of the poll loop.
Status Supervisor::round() {
  service_.turns();
  spawn_spares();
  smi_.turn();
  std::vector<pollfd> polled;
  polled.push_back({signals_.get(), POLLIN, 0});
  for (const net::Listener& listener : listeners_)
    polled.push_back({accept_at_.passed() ? listener.fd() : -1, POLLIN, 0});
  const std::size_t first_child = polled.size();
  std::vector<pid_t> pids;
  for (const auto& [pid, child] : children_) {
    polled.push_back({child.channel.get(), POLLIN, 0});
    polled.push_back({child.log.descriptor(), POLLIN, 0});
    pids.push_back(pid);
  }
  const std::size_t smi = polled.size();
  polled.push_back({smi_.descriptor(), POLLIN, 0});
  intake_.watch(polled);
  scrapes_.watch(polled);

  const int ready = ::poll(polled.data(), polled.size(), next_deadline().poll_timeout_ms(kPollMax_ms));
  if (ready < 0 && errno != EINTR) return Status::from_errno("poll", errno);
  if (ready < 0) return Status::ok();

  // Session processes first: a token they expect must be known before its lanes are looked at.
  for (std::size_t index = 0; index < pids.size(); ++index) {
    auto child = children_.find(pids[index]);
    if (child == children_.end()) continue;
    if (polled[first_child + 2 * index].revents != 0) read_channel(child->first, child->second);
    if (polled[first_child + 2 * index + 1].revents != 0) child->second.log.relay(child->first);
  }
  if (polled[smi].revents != 0) smi_.relay();
  intake_.progress(
      polled, [this](Intake::Connection& connection) { return meet(connection); },
      [this](Intake::Connection& connection) { take_lane(connection); });
  serve_waiting();
  for (std::size_t index = 0; index < listeners_.size(); ++index)
    if (polled[1 + index].revents != 0) accept_from(listeners_[index]);
  scrapes_.progress(polled, [this](std::string_view path) { return answer_scrape(path); });
  if (polled[0].revents != 0) read_signals();
  replace_the_late();
  if (has_keys() && keys_due_.passed()) end_the_unwelcome();
  return Status::ok();
}

Deadline Supervisor::next_deadline() const {
  Deadline soonest = intake_.deadline();
  soonest = soonest.sooner(spares_.next()).sooner(scrapes_.deadline()).sooner(service_.next());
  soonest = soonest.sooner(smi_.deadline());
  if (!accept_at_.passed()) soonest = soonest.sooner(accept_at_);
  for (const auto& [pid, child] : children_) soonest = soonest.sooner(child.deadline);
  return soonest;
}

// For the log.
std::string Supervisor::who_may_come(const net::Listener& listener) const {
  if (listener.address().is_unix()) return {};
  if (!has_keys())
    return fmt::format(" (no keys: for programs of user {}{} only)", ::geteuid(),
                       options_.guests.users.empty() ? "" : " and of those of --allow-uid");
  return fmt::format(" (level {}, {} keys may come in; this worker's key is {})",
                     name(options_.keys.security), gate_->size(), gate_->fingerprint());
}

// Called once: the sockets are open and a session process is warm, so a client is served at once.
void Supervisor::announce(const std::string& walls) {
  if (std::exchange(announced_, true)) return;
  for (const net::Listener& listener : listeners_)
    if (!options_.quiet) log("listening on {}{}", listener.address().to_string(), who_may_come(listener));
  const std::size_t end = std::min(walls.size(), walls.find(protocol::kLimitsAfterWalls));
  if (!options_.quiet) log("walls around sessions: {}", walls.substr(0, end));
  if (!options_.quiet && end != walls.size())
    log("limits of sessions: {}", walls.substr(end + std::strlen(protocol::kLimitsAfterWalls)));
  service_.ready(fmt::format("{} clients at most", options_.sessions_max));
  if (options_.ready_fd < 0) return;
  const std::string line = fmt::format("ready {} {}\n", options_.tcp ? options_.port : 0, options_.socket);
  if (::write(options_.ready_fd, line.data(), line.size()) < 0)
    log(LogLevel::kError, "--ready-fd {}: {}", options_.ready_fd, std::strerror(errno));
}

// A process that hangs costs its client kTakeTime; then the next one serves it.
void Supervisor::replace_the_late() {
  for (auto& [pid, child] : children_)
    if (child.deadline.passed()) {
      metrics_.count(ProcessFault::kHung);
      doom(pid, child, child.state == State::kStarting ? "not ready in time" : "no answer");
    }
}

// Another process gets whatever it had. A process that hangs in the kernel may take long to end.
void Supervisor::doom(pid_t pid, Child& child, std::string_view why) {
  log(LogLevel::kWarning, "session process {} killed: {}", pid, why);
  ::kill(pid, SIGKILL);
  child.state = State::kDoomed;
  child.deadline = Deadline::never();
  if (child.seat) ledger_.uncount(*child.seat);
  if (child.offered) intake_.give_back(*std::exchange(child.offered, std::nullopt));
  spares_.failed(child.shown, false);
}

void Supervisor::read_channel(pid_t pid, Child& child) {
  for (int count = 0; child.channel && count < kMessagesPerTurn; ++count) {
    Result<ChannelMessage> message = receive_message(child.channel.get(), Deadline::now());
    if (message.code() == Code::kTimeout) return;
    if (message && take_message(pid, child, *message)) continue;
    // kPeerLost: it has exited or is about to, and reap() says how. If it goes on, it ends all the same.
    if (message.code() != Code::kPeerLost) {
      metrics_.count(ProcessFault::kChannel);
      child.end_reason = message ? "killed: it sent an invalid message"
                                 : "killed: its message cannot be read: " + message.status().message();
      intake_.log().line("session {}, process {}: {}", child.session_id, pid, child.end_reason);
    }
    child.channel.reset();
    ::kill(pid, SIGKILL);
  }
}

bool Supervisor::take_message(pid_t pid, Child& child, ChannelMessage& message) {
  if (child.state == State::kDoomed) return true;  // said before it was killed
  switch (message.kind) {
    case Envelope::kReady:
      if (child.state != State::kStarting) return false;
      child.state = State::kSpare;
      child.devices = message.number;
      note_devices(child);
      child.deadline = Deadline::never();
      spares_.ready(child.shown);
      announce(message.whom);
      return true;
    case Envelope::kTaken:
      if (child.state != State::kOffered) return false;
      child.state = State::kServing;
      child.deadline = Deadline::never();
      child.offered.reset();
      return true;
    case Envelope::kExpect:
      if (!expect_lanes(pid, child, message.attach.token)) return false;
      audit_start(child, message);
      return true;
    case Envelope::kOffer:
    case Envelope::kWant:
    case Envelope::kWithdraw:
      if (child.state != State::kServing) return false;
      offers_.serve(child.channel.get(), pid, child.shown, message);
      return true;
    case Envelope::kFindSession:
      if (child.state != State::kServing || !child.seat) return false;
      tell_session(pid, child, message);
      return true;
    default: return false;
  }
}

bool Supervisor::expect_lanes(pid_t pid, Child& child, const net::Token& token) {
  if (child.state != State::kServing || ++child.tokens > kTokensPerSessionMax) return false;
  // A token that another session uses already stays with that one.
  if (!tokens_.emplace(token, pid).second)
    intake_.log().line("session {}: another session already uses its token", child.session_id);
  return true;
}

void Supervisor::read_signals() {
  signalfd_siginfo info{};
  while (::read(signals_.get(), &info, sizeof info) == static_cast<ssize_t>(sizeof info)) {
    if (info.ssi_signo == SIGCHLD) {
      reap();
    } else if (info.ssi_signo == SIGHUP) {
      if (has_keys())
        reload_keys();
      else if (!options_.quiet)
        log("{}: ignored", ::strsignal(SIGHUP));
    } else {
      if (!options_.quiet) log("stopping: {}", ::strsignal(static_cast<int>(info.ssi_signo)));
      stopping_ = true;
    }
  }
}

void Supervisor::reap() {
  int status = 0;
  rusage usage = {};
  for (pid_t pid = ::wait4(-1, &status, WNOHANG, &usage); pid > 0;
       pid = ::wait4(-1, &status, WNOHANG, &usage)) {
    folders_.ended(pid, status == 0);
    if (smi_.is(pid)) {
      smi_.ended(status);
      continue;
    }
    auto found = children_.find(pid);
    if (found == children_.end()) {
      kill_strays();
      continue;
    }
    Child child = std::move(found->second);
    children_.erase(found);
    child.log.finish(pid);
    std::erase_if(tokens_, [pid](const auto& entry) { return entry.second == pid; });
    offers_.forget(pid);
    if (child.state == State::kServing) {
      note_end(child, status);
      audit_end(child, status, usage);
    }
    if (child.seat) ledger_.leave(*child.seat);
    clean_up_after(child);
    if (child.state == State::kServing) {
      log_end(child, status);
      continue;
    }
    if (child.offered) intake_.give_back(std::move(*child.offered));
    if (stopping_) continue;
    if (!announced_) failure_ = {Code::kUnavailable, "no session process can start; see above"};
    if (child.state == State::kDoomed) continue;
    log_spare_end(status);
    metrics_.count(ProcessFault::kSpare);
    spares_.failed(child.shown, WIFEXITED(status) && WEXITSTATUS(status) == kExitNoRuntime);
  }
}

void Supervisor::kill_strays() const {
  strays_.kill(
      [this](pid_t pid) { return children_.contains(pid) || smi_.is(pid) || folders_.is_remover(pid); });
}

void Supervisor::clean_up_after(const Child& child) {
  kill_strays();
  folders_.remove(child.folder);
  cgroups_.remove(child.cgroup);
  if (child.turns) turns_.give_back(*child.turns);
  users_.give_back(child.user);
}

std::size_t Supervisor::count(State state) const {
  return static_cast<std::size_t>(
      std::count_if(children_.begin(), children_.end(),
                    [state](const auto& entry) { return entry.second.state == state; }));
}

std::size_t Supervisor::spares_of(const DeviceSet& devices) const {
  return static_cast<std::size_t>(std::ranges::count_if(children_, [&](const auto& entry) {
    const Child& child = entry.second;
    return (child.state == State::kStarting || child.state == State::kSpare) && child.shown == devices;
  }));
}

// By --device, --limit and the keys.
void Supervisor::keep_spares() {
  const DeviceSet& common = options_.devices.empty() ? options_.tenant_limits.devices() : options_.devices;
  spares_.keep(common, gate_ != nullptr ? gate_->device_sets() : std::vector<DeviceSet>());
  for (auto& [pid, child] : children_)
    if (child.state == State::kSpare && !spares_.keeps(child.shown)) end_spare(pid, child);
}

// Nobody has used it.
void Supervisor::end_spare(pid_t pid, Child& child) {
  ::kill(pid, SIGKILL);
  child.state = State::kDoomed;
}

// Those for which somebody waits come first. Until one process has become ready, there is no other.
void Supervisor::spawn_spares() {
  if (!announced_) return spawn_spares_of(spares_.kept().front());
  for (const Intake::Connection* waiting : intake_.waiting()) {
    const DeviceSet devices = devices_of(*waiting);
    if (spares_of(devices) == 0 && !users_.available()) end_spare_of_others(devices);
    spawn_spares_of(devices);
  }
  for (const DeviceSet& devices : spares_.kept()) spawn_spares_of(devices);
}

void Supervisor::spawn_spares_of(const DeviceSet& devices) {
  while (spares_.may_start(devices) && spares_of(devices) < options_.spares &&
         busy() < options_.sessions_max && users_.available()) {
    const Status spawned = spawn(devices);
    if (spawned.is_ok()) continue;
    log(LogLevel::kError, "cannot start a session process: {}", spawned.to_string());
    spares_.failed(devices, false);
  }
}

void Supervisor::end_spare_of_others(const DeviceSet& devices) {
  for (auto& [pid, child] : children_) {
    if (child.state == State::kSpare && child.shown != devices) return end_spare(pid, child);
  }
}

// Takes no new clients; served ones may finish what they have sent, for a limited time.
Status Supervisor::shut_down() {
  stopping_ = true;
  service_.stopping();
  listeners_.clear();
  scrapes_.close();
  smi_.stop();
  intake_.clear();
  for (auto& [pid, child] : children_) {
    child.end_reason = "the worker was stopped";
    ChannelMessage drain;
    drain.kind = Envelope::kDrain;
    if (child.channel && send_message(child.channel.get(), drain, Deadline::now()).is_ok()) continue;
    ::kill(pid, SIGKILL);
  }
  const Deadline deadline = Deadline::after(kShutdownTime);
  while (!children_.empty() && !deadline.passed()) {
    pollfd polled{signals_.get(), POLLIN, 0};
    ::poll(&polled, 1, deadline.poll_timeout_ms(kPollMax_ms));
    for (auto& [pid, child] : children_) child.log.relay(pid);
    read_signals();
    reap();
  }
  for (const auto& [pid, child] : children_) {
    log(LogLevel::kWarning, "session {} did not end in time; killed", child.session_id);
    ::kill(pid, SIGKILL);
    int status = 0;
    rusage usage = {};
    if (::wait4(pid, &status, 0, &usage) == pid) audit_end(child, status, usage);
  }
  children_.clear();
  return Status::ok();
}

}  // namespace tf::worker
