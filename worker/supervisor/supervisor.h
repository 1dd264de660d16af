// SPDX-License-Identifier: Apache-2.0
// Supervisor: the process that users start. Accepts connections and passes each to the session process it
// belongs to. There is one such process per client, and some are kept warm. It never touches a HIP runtime,
// so nothing that a client or a GPU does can harm it.
//
// One thread with one poll loop; nothing in it blocks.
#pragma once

#include <signal.h>
#include <sys/resource.h>
#include <sys/types.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "transport/base/deadline.h"
#include "transport/base/status.h"
#include "transport/net/fd.h"
#include "transport/net/socket.h"
#include "worker/base/channel.h"
#include "worker/base/last_words.h"
#include "worker/base/options.h"
#include "worker/supervisor/audit.h"
#include "worker/supervisor/door.h"
#include "worker/supervisor/exposition.h"
#include "worker/supervisor/gate.h"
#include "worker/supervisor/intake.h"
#include "worker/supervisor/ledger.h"
#include "worker/supervisor/metrics.h"
#include "worker/supervisor/offers.h"
#include "worker/supervisor/scrapes.h"
#include "worker/supervisor/service_manager.h"
#include "worker/supervisor/session_cgroups.h"
#include "worker/supervisor/session_folders.h"
#include "worker/supervisor/session_log.h"
#include "worker/supervisor/session_users.h"
#include "worker/supervisor/smi_watch.h"
#include "worker/supervisor/spares.h"
#include "worker/supervisor/strays.h"
#include "worker/supervisor/turn_table.h"

namespace tf::worker {

inline constexpr std::chrono::seconds kShutdownTime{5};
inline constexpr std::chrono::seconds kStartTime{120};  // for a session process to get warm
inline constexpr std::chrono::seconds kTakeTime{1};     // for a warm one to say that it has its client
inline constexpr unsigned kTokensPerSessionMax = 1;     // a session has one endpoint
inline constexpr std::uint32_t kQueuedMax = 1 << 20;    // that a session may say it has; see Executor
inline constexpr std::chrono::seconds kKeysPeriod{1};   // between looks for keys that have expired

// The command line of a process behind these walls.
void add_walls(const SandboxOptions& sandbox, std::vector<std::string>& arguments);

class Supervisor {
 public:
  explicit Supervisor(Options options)
      : options_(std::move(options)),
        door_(::geteuid(), options_.guests),
        users_(options_.users),
        ledger_(2 * options_.sessions_max) {}
  Supervisor(const Supervisor&) = delete;
  Supervisor& operator=(const Supervisor&) = delete;
  ~Supervisor();

  // Takes or binds the sockets, and handles SIGTERM, SIGINT, SIGHUP and SIGCHLD from now on.
  Status open();
  // Serves until SIGTERM or SIGINT. Fails if no session process ever became ready.
  Status run();

 private:
  // kOffered: it was sent a client, and has not confirmed yet. kDoomed: killed, not yet reaped.
  enum class State { kStarting, kSpare, kOffered, kServing, kDoomed };
  struct Child {
    net::OwnedFd channel;
    LastWords words;
    SessionLog log;
    std::string folder;                  // for its files
    std::optional<std::uint32_t> turns;  // its slot of the table; none: it takes no turns
    std::optional<Account> user;         // none: ours
    std::string cgroup;                  // empty: none of its own
    DeviceSet shown;                     // devices, to its client; empty: all
    State state = State::kStarting;
    std::uint64_t session_id = 0;
    Deadline deadline = Deadline::after(kStartTime);  // kStarting, kOffered: then it is replaced
    std::optional<Intake::Connection> offered;        // ours until it is taken
    std::optional<Ledger::Seat> seat;                 // with a client, until the process has ended
    std::chrono::steady_clock::time_point accepted;   // its client's connection
    unsigned tokens = 0;
    std::optional<ProvenClient> client;  // the same, if that was proven
    std::uint64_t devices = 0;           // that it has found, as it says
    AuditedSession audited;
    BelievedCounts believed;
    std::string end_reason;  // why we have ended it; empty: we have not
  };
  using Children = std::map<pid_t, Child>;

  // supervisor_sockets.cc.
  Status take_listeners();
  Status open_listeners();
  bool has_listener(bool is_unix) const;
  Status round();
  void announce(const std::string& walls);
  std::string who_may_come(const net::Listener& listener) const;
  // The way in: supervisor_doors.cc.
  void accept_from(net::Listener& listener);
  void give_way(Intake::Connection& connection);
  void serve_waiting();
  // Refuses it if it may not (any longer) have a session.
  bool turned_away(Intake::Connection& connection);
  Limits limits_of(const Intake::Connection& connection) const;
  DeviceSet devices_of(const Intake::Connection& connection) const;
  bool hand_over(Intake::Connection& connection);
  // What the file of --device-limits says now.
  Result<hipcore::DeviceLimits> device_limits() const;
  Status send_grant(const Child& child, const hipcore::DeviceLimits& devices) const;
  void take_lane(Intake::Connection& connection);
  void refuse(Intake::Connection& connection, Code code, const std::string& why);
  void answer(Intake::Connection& connection, Code code, const std::string& why);
  // Keys: supervisor_keys.cc.
  bool has_keys() const { return gate_ != nullptr; }
  Result<std::unique_ptr<Prover>> meet(Intake::Connection& connection);
  Result<std::unique_ptr<Prover>> meet_lane(const Intake::Connection& connection);
  Child* find_lanes_session(const net::Token& token);
  bool still_welcome(Intake::Connection& connection);
  void reload_keys();
  void end_the_unwelcome();
  void read_channel(pid_t pid, Child& child);
  // False: a session process must not send this at this time.
  bool take_message(pid_t pid, Child& child, ChannelMessage& message);
  bool expect_lanes(pid_t pid, Child& child, const net::Token& token);
  // Another session of the same tenant, which `asked` names: supervisor_sessions.cc.
  void tell_session(pid_t pid, const Child& asker, const ChannelMessage& asked) const;
  void keep_spares();
  void end_spare(pid_t pid, Child& child);
  void replace_the_late();
  void doom(pid_t pid, Child& child, std::string_view why);
  void read_signals();
  void reap();
  void kill_strays() const;
  void clean_up_after(const Child& child);
  void open_turns();
  // For the log: supervisor_audit.cc.
  AuditedSession identify(const Intake::Connection& connection, std::uint64_t session_id, pid_t process,
                          const Child& child) const;
  void audit_start(Child& child, ChannelMessage& message);
  void audit_end(const Child& child, int status, const rusage& usage);
  void log_end(const Child& child, int status);
  void log_spare_end(int status) const;
  // For monitoring: supervisor_metrics.cc.
  Status open_metrics();
  ScrapeAnswer answer_scrape(std::string_view path);
  ScrapeAnswer readiness() const;
  void look_at(Child& child);
  WorkerState state() const;
  int number_of(const Child& child, std::size_t ordinal) const;
  void note_devices(Child& child);
  std::vector<std::string> smi_arguments() const;
  void note_end(Child& child, int status);
  void spawn_spares();
  Status open_limits();  // supervisor_limits.cc
  void spawn_spares_of(const DeviceSet& devices);
  // So that its user's number is free for one that shows `devices`.
  void end_spare_of_others(const DeviceSet& devices);
  Status spawn(const DeviceSet& devices);
  Status start(Child& child);  // which is moved from, unless it fails
  Status shut_down();
  std::size_t count(State state) const;
  std::size_t spares_of(const DeviceSet& devices) const;  // warm, or getting so
  // Processes with a client, or about to get one.
  std::size_t busy() const { return count(State::kServing) + count(State::kOffered); }
  Deadline next_deadline() const;

  Options options_;
  ServiceManager service_;
  std::vector<net::Listener> listeners_;
  net::OwnedFd signals_;
  Door door_;
  SessionUsers users_;
  Ledger ledger_;
  SessionFolders folders_;
  SessionCgroups cgroups_;
  TurnTable turns_;
  std::string limits_text_;
  Strays strays_;
  std::unique_ptr<Gate> gate_;           // null: no keys, and so TCP on loopback only
  Deadline keys_due_ = Deadline::now();  // to look for sessions whose keys have expired
  Intake intake_;
  LogLimit seats_log_;          // of its own, as the door's
  std::uint64_t gave_way_ = 0;  // connections, to others that came later
  Metrics metrics_;
  Scrapes scrapes_;
  Exposition exposition_;
  std::map<int, std::uint64_t> device_memory_;  // bytes, by the operator's numbers
  SmiWatch::Devices watched_;                   // those devices, likewise
  SmiWatch smi_;                                // of a worker with --metrics
  Children children_;
  std::map<net::Token, pid_t> tokens_;
  Offers offers_;
  std::uint64_t next_session_id_ = 1;
  bool announced_ = false;
  bool told_of_words_ = false;  // that there is no page for them
  bool stopping_ = false;
  Status failure_;
  Spares spares_;
  Deadline accept_at_ = Deadline::now();  // later, if descriptors ran out
};

}  // namespace tf::worker
