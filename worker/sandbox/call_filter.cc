// SPDX-License-Identifier: Apache-2.0
// Builds and installs the filters. A list of what is refused, not of what is allowed: vendors' runtimes run
// under it, and nobody knows what they will call.
#include "worker/sandbox/call_filter.h"

#include <asm/ioctls.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/netlink.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <initializer_list>
#include <vector>

namespace tf::worker {
namespace {

// Newer than Debian 12's headers.
constexpr int kFchmodat2 = 452;
constexpr int kSetxattrat = 463;
constexpr int kRemovexattrat = 466;

// Other processes, and the kernel's inside. The owner's rights over his files are no business of Landlock's.
constexpr int kRefused[] = {
    SYS_ptrace, SYS_kcmp, SYS_pidfd_getfd, SYS_process_madvise, SYS_process_mrelease,
    // what is mounted, and namespaces
    SYS_mount, SYS_umount2, SYS_pivot_root, SYS_chroot, SYS_move_mount, SYS_open_tree, SYS_fsopen,
    SYS_fsconfig, SYS_fsmount, SYS_fspick, SYS_mount_setattr, SYS_unshare, SYS_setns,
    // the kernel
    SYS_bpf, SYS_perf_event_open, SYS_init_module, SYS_finit_module, SYS_delete_module, SYS_kexec_load,
    SYS_kexec_file_load, SYS_reboot, SYS_swapon, SYS_swapoff, SYS_acct, SYS_quotactl, SYS_quotactl_fd,
    SYS_syslog, SYS_iopl, SYS_ioperm, SYS_modify_ldt, SYS_settimeofday, SYS_clock_settime, SYS_adjtimex,
    SYS_clock_adjtime, SYS_sethostname, SYS_setdomainname, SYS_vhangup,
    // keys, and files by number
    SYS_keyctl, SYS_add_key, SYS_request_key, SYS_name_to_handle_at, SYS_open_by_handle_at,
    // what processes of one user share by name
    SYS_shmget, SYS_shmat, SYS_shmctl, SYS_semget, SYS_semctl, SYS_semop, SYS_semtimedop, SYS_msgget,
    SYS_msgsnd, SYS_msgrcv, SYS_msgctl, SYS_mq_open, SYS_mq_unlink,
    // rights, owners and times of files
    SYS_chmod, SYS_fchmod, SYS_fchmodat, kFchmodat2, SYS_chown, SYS_fchown, SYS_lchown, SYS_fchownat,
    SYS_setxattr, SYS_lsetxattr, SYS_fsetxattr, kSetxattrat, SYS_removexattr, SYS_lremovexattr,
    SYS_fremovexattr, kRemovexattrat, SYS_utime, SYS_utimes, SYS_futimesat, SYS_utimensat,
    // who does what with files
    SYS_inotify_add_watch, SYS_fanotify_init};

constexpr unsigned kNamespaces =
    CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET;
constexpr unsigned kX32 = 0x40000000;         // of the number of a call of the x32 interface
constexpr unsigned kDatagrams = 2;            // in the type of SOCK_DGRAM and SOCK_RAW, of no other
constexpr unsigned kIoPriorityOfProcess = 1;  // IOPRIO_WHO_PROCESS
constexpr unsigned kUserFaultsOnly = 1;       // UFFD_USER_MODE_ONLY

constexpr unsigned offset_of_argument(unsigned index) {
  return static_cast<unsigned>(offsetof(seccomp_data, args)) + index * 8;  // the low half, little-endian
}

// A program that looks at one call after the other.
class Filter {
 public:
  Filter() {
    load(offsetof(seccomp_data, arch));
    add(BPF_JMP | BPF_JEQ | BPF_K, AUDIT_ARCH_X86_64, 1, 0);
    answer(SECCOMP_RET_KILL_PROCESS);
    load(offsetof(seccomp_data, nr));
    add(BPF_JMP | BPF_JGE | BPF_K, kX32, 0, 1);
    answer(refusal(ENOSYS));
  }

  void refuse(int call, int error = EPERM) {
    add(BPF_JMP | BPF_JEQ | BPF_K, static_cast<unsigned>(call), 0, 1);
    answer(refusal(error));
  }
  // Refused unless the argument is among `values`.
  void only(int call, unsigned argument, std::initializer_list<unsigned> values) {
    by_value(call, argument, values, SECCOMP_RET_ALLOW, refusal(EPERM));
  }
  // Not done, but answered as if it were, unless the argument is among `values`.
  void ignore_others(int call, unsigned argument, std::initializer_list<unsigned> values) {
    by_value(call, argument, values, SECCOMP_RET_ALLOW, refusal(0));
  }
  // Refused if the argument is one of these.
  void never(int call, unsigned argument, std::initializer_list<unsigned> values) {
    by_value(call, argument, values, refusal(EPERM), SECCOMP_RET_ALLOW);
  }
  // Refused if any of these bits is set (`set`), or if none is.
  void bits(int call, unsigned argument, unsigned mask, bool set) {
    begin(call, 4);
    load(offset_of_argument(argument));
    add(BPF_JMP | BPF_JSET | BPF_K, mask, set ? 0 : 1, set ? 1 : 0);
    answer(refusal(EPERM));
    answer(SECCOMP_RET_ALLOW);
  }
  // Refused unless two arguments have these values.
  void both(int call, unsigned first, unsigned first_value, unsigned second, unsigned mask,
            unsigned second_value) {
    begin(call, 7);
    load(offset_of_argument(first));
    add(BPF_JMP | BPF_JEQ | BPF_K, first_value, 0, 3);
    load(offset_of_argument(second));
    add(BPF_ALU | BPF_AND | BPF_K, mask, 0, 0);
    add(BPF_JMP | BPF_JEQ | BPF_K, second_value, 1, 0);
    answer(refusal(EACCES));
    answer(SECCOMP_RET_ALLOW);
  }

  Status install() {
    answer(SECCOMP_RET_ALLOW);
    const sock_fprog program{static_cast<unsigned short>(code_.size()), code_.data()};
    const unsigned long flags = SECCOMP_FILTER_FLAG_TSYNC | SECCOMP_FILTER_FLAG_SPEC_ALLOW;
    const long failed = ::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program);
    if (failed == 0) return Status::ok();
    return failed > 0 ? Status(Code::kInternal, "seccomp: a thread has a filter of its own")
                      : Status::from_errno("seccomp", errno);
  }

 private:
  static constexpr unsigned refusal(int error) {
    return SECCOMP_RET_ERRNO | (static_cast<unsigned>(error) & SECCOMP_RET_DATA);
  }
  void by_value(int call, unsigned argument, std::initializer_list<unsigned> values, unsigned among,
                unsigned otherwise) {
    begin(call, 3 + values.size());
    load(offset_of_argument(argument));
    unsigned left = static_cast<unsigned>(values.size());
    for (const unsigned value : values)
      add(BPF_JMP | BPF_JEQ | BPF_K, value, static_cast<std::uint8_t>(left--), 0);
    answer(otherwise);
    answer(among);
  }
  // The next `length` instructions are for this call, and say what becomes of it.
  void begin(int call, std::size_t length) {
    add(BPF_JMP | BPF_JEQ | BPF_K, static_cast<unsigned>(call), 0, static_cast<std::uint8_t>(length));
  }
  void load(unsigned long offset) { add(BPF_LD | BPF_W | BPF_ABS, static_cast<unsigned>(offset), 0, 0); }
  void answer(unsigned what) { add(BPF_RET | BPF_K, what, 0, 0); }
  void add(int operation, unsigned operand, std::uint8_t if_true, std::uint8_t if_false) {
    code_.push_back({static_cast<std::uint16_t>(operation), if_true, if_false, operand});
  }

  std::vector<sock_filter> code_;
};

}  // namespace

Status refuse_calls() {
  const auto own = static_cast<unsigned>(::getpid());
  Filter filter;
  for (const int call : kRefused) filter.refuse(call);
  filter.refuse(SYS_clone3, ENOSYS);  // its flags cannot be seen; the C library then calls clone
  filter.bits(SYS_clone, 0, kNamespaces, true);
  filter.bits(SYS_userfaultfd, 0, kUserFaultsOnly, false);
  // The memory of others; one's own is read to find out whether it is there (hipcore/memory).
  filter.only(SYS_process_vm_readv, 0, {own});
  filter.only(SYS_process_vm_writev, 0, {own});
  // Limits and priorities of others.
  for (const int call : {SYS_prlimit64, SYS_sched_setscheduler, SYS_sched_setparam, SYS_sched_setattr,
                         SYS_migrate_pages, SYS_move_pages})
    filter.only(call, 0, {0, own});
  // pthread_create() makes this call for the new thread, and fails if it does: AMD's runtime then waits for
  // the thread for ever. A thread of this process cannot be told from others, so nothing is done for any of
  // them.
  filter.ignore_others(SYS_sched_setaffinity, 0, {0, own});
  filter.both(SYS_setpriority, 0, PRIO_PROCESS, 1, ~0u, 0);
  filter.both(SYS_ioprio_set, 0, kIoPriorityOfProcess, 1, ~0u, 0);
  // Sockets come connected, from the supervisor. libibverbs asks the kernel for its devices over one.
  filter.both(SYS_socket, 0, AF_NETLINK, 2, ~0u, NETLINK_RDMA);
  // Neither of them can reach another address.
  filter.both(SYS_socketpair, 0, AF_UNIX, 1, kDatagrams, 0);
  // A terminal that is the log takes no input from here.
  filter.never(SYS_ioctl, 1, {TIOCSTI, TIOCLINUX});
  filter.never(SYS_prctl, 0, {PR_SET_DUMPABLE});
  return filter.install();
}

Status refuse_new_rings() {
  Filter filter;
  filter.refuse(SYS_io_uring_setup);
  return filter.install();
}

}  // namespace tf::worker
