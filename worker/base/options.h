// SPDX-License-Identifier: Apache-2.0
// The options of hip-worker. tools/hip-worker/options.h reads them from the command line.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "transport/net/address.h"
#include "transport/net/socket.h"
#include "transport/secure/level.h"
#include "worker/base/limits.h"
#include "worker/base/log.h"

namespace tf::worker {

// Who may come through the Unix socket besides the worker's own user.
struct Guests {
  std::vector<uid_t> users;
  std::vector<gid_t> groups;  // primary or supplementary
};

// What clients over TCP have to prove.
struct KeyOptions {
  std::string key_file;                           // the worker's own; empty: no keys
  std::string authorized_keys;                    // the clients'
  secure::Level security = secure::Level::kNone;  // the least that a session may have; none: no keys
  bool no_devices = false;                        // keys cannot say which devices: --device does
  bool rdma_in_clear = false;                     // payload over rdma may leave this host as it is
};

// Whom a session process becomes.
struct Account {
  uid_t user = 0;
  gid_t group = 0;
};

// Whom session processes become, if root starts the worker. At most one of them; none: the supervisor's user.
struct UserOptions {
  struct Range {
    uid_t first = 0;
    uid_t last = 0;
  };
  std::optional<Account> same;
  std::optional<Range> range;  // each another one, with the group of that number
};

// What one session may have of the host.
struct LimitOptions {
  std::size_t memory_mib = 0;    // 0: all
  std::size_t processes = 4096;  // threads included
  unsigned processors = 0;       // 0: all
  std::size_t disk_mib = 1024;   // for its files

  // Some limit that only a cgroup can hold was asked for.
  bool needs_cgroup() const { return memory_mib != 0 || processors != 0; }
};

// The walls around session processes (worker/sandbox).
struct SandboxOptions {
  bool off = false;
  bool with_gpus = false;             // also where a GPU's driver may be loaded
  bool required = false;              // without all of them the worker does not start
  std::vector<std::string> readable;  // what sessions may read besides what the system has for all
  std::optional<Account> user;        // of a session process; none: the supervisor's
  std::string folder;                 // of a session process, for its files; empty: it makes none
  std::size_t processes = 0;          // of a session process: that its user may have; 0: no limit of its own
  std::size_t disk_mib = 0;           // of a session process: for its files; 0: no limit
  std::string limits;                 // likewise: its other limits, in the supervisor's words
};

struct Options {
  std::uint16_t port = net::kDefaultPort;  // 0: the kernel chooses
  std::string listen = "127.0.0.1";
  std::string socket;              // Unix socket path or @name; empty: none
  bool socket_is_default = false;  // nobody has asked for it
  net::SocketFile socket_file;
  Guests guests;
  KeyOptions keys;
  SandboxOptions sandbox;
  UserOptions users;
  LimitOptions limits;
  std::string runtime = "auto";
  std::optional<std::uint32_t> turns;  // of a session process: its slot of the page of turns; none: no page
  std::vector<int> devices;            // that a session process shows; of a supervisor: --device; empty: all
  std::size_t spares = 1;
  std::size_t sessions_max = 64;
  Limits tenant_limits;                 // of each, if its key says no other
  std::string device_limits;            // a file (hipcore/limits); empty: none
  std::optional<net::Address> metrics;  // where monitoring may ask; none: nowhere
  int ready_fd = -1;
  std::chrono::seconds io_timeout{};  // TF_IO_TIMEOUT, for the supervisor and its sessions alike
  bool verbose = false;
  bool quiet = false;  // log failures only
  LogForm log_form = LogForm::kText;
  bool tcp = false;
  bool no_tcp = false;      // also none that a service manager hands over
  bool is_session = false;  // internal: a session process of a supervisor
  bool is_smi = false;      // internal: its SMI process
};

}  // namespace tf::worker
