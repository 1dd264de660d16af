// SPDX-License-Identifier: Apache-2.0
// A record is never unmapped: threads may be in calls when the process ends. A child of fork() leaves the
// parent's alone, and decides again at its first call.
#include "proxy/stats/counting.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>

#include "proxy/base/environment.h"
#include "proxy/base/log.h"
#include "proxy/stats/clock.h"
#include "proxy/stats/trace.h"
#include "transport/base/mutex.h"
#include "transport/net/fd.h"

namespace tf::proxy::stats {

constinit std::atomic<Switch> detail::counting{Switch::kUndecided};

// One per thread. Constant-initialised and trivially destructible: calls come from destructors too.
struct detail::ThreadCounts {
  RecordFile* file = nullptr;  // of which the following are; null: none yet
  Counts* counts = nullptr;
  bool alone = false;                 // no other thread counts there
  FunctionCount* function = nullptr;  // for the program's call; null: none
  unsigned calls = 0;                 // open ones, nested
  unsigned waits = 0;
  bool sent = false;  // the open call has sent a message
  // Ticks.
  std::uint64_t wait_started = 0;
  std::uint64_t wait_ended = 0;
  std::uint64_t call_started = 0;  // where calls are traced
  // Where calls are traced: this thread's part of the file, and the events of the open call and wait.
  TraceCursor cursor{};
  TraceEvent* call_event = nullptr;
  TraceEvent* wait_event = nullptr;
  std::uint32_t thread = 0;   // its number, once it is known
  std::uint32_t request = 0;  // the last message's
};

namespace {

using detail::ThreadCounts;

constinit std::atomic<bool> calls_are_logged{false};  // relaxed: a switch, and it publishes nothing

// Where nothing is counted.
Switch without_record() {
  return calls_are_logged.load(std::memory_order_relaxed) ? Switch::kLogging : Switch::kOff;
}

struct Counting {
  Mutex deciding;                                 // recreated in the child of fork() before it is taken
  std::string directory TF_GUARDED_BY(deciding);  // from restart(); empty: TF_STATS decides
  std::string path TF_GUARDED_BY(deciding);
};

// What every call looks at. Constant-initialised: no guard is asked.
struct Files {
  std::atomic<RecordFile*> record{nullptr};
  std::atomic<TraceFile*> trace{nullptr};
  std::atomic<std::uint64_t> next_reading{0};  // ticks: when the files get the next one of both clocks
  std::atomic_flag reading{};                  // by one thread
};
constinit Files files;

ThreadCounts& thread_counts() {
  static thread_local constinit ThreadCounts counts{};
  return counts;
}

void after_fork_in_child();

Counting* make_counting() {
  pthread_atfork(nullptr, nullptr, after_fork_in_child);
  return new Counting;
}

// Owned by the process; deliberately never freed.
Counting& state() {
  static Counting& counting = *make_counting();
  return counting;
}

// Registered by state(), which exists therefore. Only one thread here.
void after_fork_in_child() {
  new (&state().deciding) Mutex;  // another thread of the parent may have held it
  files.record.store(nullptr, std::memory_order_relaxed);
  files.trace.store(nullptr, std::memory_order_relaxed);
  files.reading.clear();
  detail::counting.store(Switch::kUndecided, std::memory_order_relaxed);
  thread_counts() = {};
}

TraceFile* trace() { return files.trace.load(std::memory_order_acquire); }  // pairs with begin_trace()

RecordFile* record() { return files.record.load(std::memory_order_acquire); }  // pairs with decide()

// Gives the thread a place to count in. A thread that has ended keeps its own: it stays in the sum.
void take_counts(RecordFile& file, ThreadCounts& own) {
  const std::uint64_t index = std::atomic_ref(file.threads).fetch_add(1, std::memory_order_relaxed);
  own.file = &file;
  own.alone = index < file.own.size();
  own.counts = own.alone ? &file.own[index] : &file.record.counts;
}

Counts& counts_of(RecordFile& file, ThreadCounts& own) {
  if (own.file != &file) [[unlikely]]
    take_counts(file, own);
  return *own.counts;
}

// Unordered: they are only counts. Atomic in any case: another process reads the file at any time.
void add(const ThreadCounts& own, std::uint64_t& counter, std::uint64_t value) {
  std::atomic_ref target(counter);
  if (own.alone)
    target.store(target.load(std::memory_order_relaxed) + value, std::memory_order_relaxed);
  else
    target.fetch_add(value, std::memory_order_relaxed);
}
void set(std::uint64_t& target, std::uint64_t value) {
  std::atomic_ref(target).store(value, std::memory_order_relaxed);
}
void raise(std::uint64_t& maximum, std::uint64_t value) {
  std::atomic_ref target(maximum);
  std::uint64_t seen = target.load(std::memory_order_relaxed);
  while (seen < value && !target.compare_exchange_weak(seen, value, std::memory_order_relaxed)) {
  }
}

// As raise(), where another thread's value of the same moment does as well: without a locked instruction.
void move_on(std::uint64_t& latest, std::uint64_t now) {
  std::atomic_ref target(latest);
  if (target.load(std::memory_order_relaxed) < now) target.store(now, std::memory_order_relaxed);
}

void copy_text(std::array<char, kTextBytes>& target, std::string_view text) {
  std::memcpy(target.data(), text.data(), std::min(text.size(), kTextBytes - 1));
}

// A file private to this process, with its blocks reserved: a full disk must not make a store fail.
Result<void*> make_file(const std::string& path, std::size_t bytes) {
  const net::OwnedFd file(::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!file) return Status::from_errno("cannot make " + path, errno);
  if (const int error = ::posix_fallocate(file.get(), 0, static_cast<off_t>(bytes)); error != 0) {
    ::unlink(path.c_str());
    return Status::from_errno("no room for " + path, error);
  }
  void* memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0);
  if (memory == MAP_FAILED) return Status::from_errno("cannot map " + path, errno);
  return memory;
}

// The file's zeros are counts of threads that have not called.
Result<RecordFile*> make_record(const std::string& path) {
  const Result<void*> memory = make_file(path, sizeof(RecordFile));
  if (!memory) return memory.status();
  auto* const file = static_cast<RecordFile*>(memory.value());
  new (&file->record) Record;
  return file;
}

// TF_TRACE. The file's zeros are events that are not written.
void begin_trace(const Record& record, const ClockReading& now) {
  const std::string directory = environment_value("TF_TRACE");
  if (directory.empty()) return;
  const std::string path = directory + "/trace-" + std::to_string(record.pid) + "-" + std::to_string(now.ns);
  const Result<void*> memory = make_file(path, sizeof(TraceFile));
  if (!memory)
    return log_line("TF_TRACE=" + directory + ": " + memory.status().message() + "; nothing is traced");
  auto* const file = static_cast<TraceFile*>(memory.value());
  new (&file->head) TraceHead;
  file->head.pid = record.pid;
  begin_log(file->head.clock, now);
  copy_text(file->head.program, program_invocation_short_name);
  files.trace.store(file, std::memory_order_release);  // pairs with trace()
}

void decide() {
  Counting& counting = state();
  const MutexLock lock(counting.deciding);
  if (detail::counting.load(std::memory_order_relaxed) != Switch::kUndecided) return;
  const std::string directory =
      counting.directory.empty() ? environment_value("TF_STATS") : counting.directory;
  if (directory.empty()) return detail::counting.store(without_record(), std::memory_order_relaxed);
  Clock::choose();
  const ClockReading started = Clock::read();
  counting.path = directory + "/hip-" + std::to_string(::getpid()) + "-" + std::to_string(started.ns);
  Result<RecordFile*> made = make_record(counting.path);
  if (!made) {
    log_line("TF_STATS=" + directory + ": " + made.status().message() + "; nothing is counted");
    counting.path.clear();
    return detail::counting.store(without_record(), std::memory_order_relaxed);
  }
  Record& fresh = (*made)->record;
  fresh.pid = static_cast<std::uint64_t>(::getpid());
  begin_log(fresh.clock, started);
  fresh.started = fresh.last = started.ticks;
  files.next_reading.store(started.ticks, std::memory_order_relaxed);
  copy_text(fresh.program, program_invocation_short_name);
  begin_trace(fresh, started);
  files.record.store(*made, std::memory_order_release);  // pairs with record()
  detail::counting.store(Switch::kOn, std::memory_order_relaxed);
}

FunctionCount& current(RecordFile& file, ThreadCounts& own) {
  return own.function != nullptr ? *own.function : counts_of(file, own).outside;
}

// Both clocks into both files: soon after the beginning, then less and less often, at last a hundred times a
// second. So a file is right to the end, whenever the process is killed. One thread; others go on meanwhile.
constexpr std::uint64_t kTicksBetweenReadings = 30'000'000;  // some 10 ms

void take_reading(std::uint64_t now) {
  RecordFile* const file = record();
  if (file == nullptr || files.reading.test_and_set(std::memory_order_acquire)) return;
  const ClockReading both = Clock::read();
  ClockLog& clock = file->record.clock;
  add_reading(clock, both);
  if (TraceFile* const traced = trace(); traced != nullptr) add_reading(traced->head.clock, both);
  const std::uint64_t age = now - std::min(now, clock.first.ticks);
  files.next_reading.store(both.ticks + std::min(age, kTicksBetweenReadings), std::memory_order_relaxed);
  files.reading.clear(std::memory_order_release);  // pairs with test_and_set()
}

// After each call and wait.
void passed(RecordFile& file, std::uint64_t now) {
  move_on(file.record.last, now);
  if (now >= files.next_reading.load(std::memory_order_relaxed)) [[unlikely]]
    take_reading(now);
}

std::uint32_t function_of(const ThreadCounts& own) {
  if (own.function == nullptr) return static_cast<std::uint32_t>(kFunctionNames.size());
  return static_cast<std::uint32_t>(own.function - own.counts->functions.data());
}

// Of the thread's open call; all is known but when it ends. Null: no room.
TraceEvent* begin_event(TraceFile& file, ThreadCounts& own, std::uint64_t begin) {
  if (own.thread == 0) own.thread = static_cast<std::uint32_t>(::gettid());
  TraceEvent* const event = make_room(file, own.cursor);
  if (event == nullptr) return nullptr;
  event->begin = begin;
  event->function = function_of(own);
  event->thread = own.thread;
  return event;
}

void end_event(TraceEvent*& event, TraceKind kind, std::uint64_t end) {
  if (event == nullptr) return;
  event->end = std::max(event->begin, end);
  complete(*event, kind);
  event = nullptr;
}

// What has no length.
void note_now(TraceKind kind, std::uint64_t bytes = 0, std::uint32_t request = 0) {
  TraceFile* const file = trace();
  if (file == nullptr) return;
  const std::uint64_t now = Clock::now();
  TraceEvent* event = begin_event(*file, thread_counts(), now);
  if (event == nullptr) return;
  event->bytes = bytes;
  event->request = request;
  end_event(event, kind, now);
}

void count_copy(CopyCount Counts::*way, TraceKind kind, std::uint64_t bytes) {
  RecordFile* const file = record();
  if (file == nullptr) return;
  ThreadCounts& own = thread_counts();
  CopyCount& copies = counts_of(*file, own).*way;
  add(own, copies.count, 1);
  add(own, copies.bytes, bytes);
  note_now(kind, bytes);
}

class QueueObserver final : public WaitObserver {
 public:
  void wait_begins(Waiting) override { detail::begin_wait(); }
  void wait_ends(Waiting what) override { detail::end_wait(kind(what)); }
  void sent(std::uint32_t request_id) override {
    ThreadCounts& own = thread_counts();
    own.request = request_id;
    if (own.wait_event != nullptr && own.waits == 1) own.wait_event->request = request_id;
  }

 private:
  static Wait kind(Waiting what) {
    switch (what) {
      case Waiting::kReply: return Wait::kReply;
      case Waiting::kTransfer: return Wait::kTransfer;
      case Waiting::kRoom: break;
    }
    return Wait::kRoom;
  }
};

}  // namespace

detail::ThreadCounts& detail::begin_call(Function function) {
  if (counting.load(std::memory_order_relaxed) == Switch::kUndecided) decide();
  RecordFile* const file = record();
  ThreadCounts& own = thread_counts();
  if (own.calls++ != 0) return own;
  if (calls_are_logged.load(std::memory_order_relaxed)) [[unlikely]]
    log_line(kFunctionNames[static_cast<std::size_t>(function)]);
  if (file == nullptr) return own;
  own.function = &counts_of(*file, own).functions[static_cast<std::size_t>(function)];
  own.sent = false;
  if (trace() != nullptr) own.call_started = Clock::now();
  return own;
}

void detail::end_call(ThreadCounts& own) {
  if (own.calls == 0 || --own.calls != 0 || own.function == nullptr) return;
  // A counter may be read a little early: a call does not end before its waits.
  const std::uint64_t now = std::max(Clock::now(), own.wait_ended);
  if (TraceFile* const file = trace(); file != nullptr) {
    if (own.call_event == nullptr) own.call_event = begin_event(*file, own, own.call_started);
    end_event(own.call_event, TraceKind::kCall, now);
  }
  add(own, own.function->calls, 1);
  if (!own.sent) add(own, own.function->local, 1);
  own.function = nullptr;
  if (RecordFile* const file = record(); file != nullptr) passed(*file, now);
}

// A call's message is under way then, so what is done here costs the caller little: also the room for the
// call's own event.
void detail::begin_wait() {
  ThreadCounts& own = thread_counts();
  own.sent = true;
  if (own.waits++ != 0) return;
  own.wait_started = std::max(Clock::now(), own.function != nullptr ? own.call_started : 0);
  TraceFile* const file = trace();
  if (file == nullptr) return;
  own.wait_event = begin_event(*file, own, own.wait_started);
  if (own.function != nullptr && own.call_event == nullptr)
    own.call_event = begin_event(*file, own, own.call_started);
}

void detail::end_wait(Wait kind) {
  ThreadCounts& own = thread_counts();
  if (own.waits == 0 || --own.waits != 0) return;
  RecordFile* const file = record();
  if (file == nullptr) return;
  const std::uint64_t now = own.wait_ended = std::max(Clock::now(), own.wait_started);
  WaitCount& wait = current(*file, own).waits[static_cast<std::size_t>(kind)];
  add(own, wait.count, 1);
  add(own, wait.total, now - own.wait_started);
  raise(wait.longest, now - own.wait_started);
  end_event(
      own.wait_event,
      static_cast<TraceKind>(static_cast<std::uint32_t>(TraceKind::kWait) + static_cast<std::uint32_t>(kind)),
      now);
  if (own.function == nullptr) passed(*file, now);  // else the end of the call does it
}

void log_calls(bool on) {
  calls_are_logged.store(on, std::memory_order_relaxed);
  if (detail::counting.load(std::memory_order_relaxed) == Switch::kUndecided) decide();
  const MutexLock lock(state().deciding);
  if (record() == nullptr) detail::counting.store(without_record(), std::memory_order_relaxed);
}

WaitObserver* queue_observer() {
  static constinit QueueObserver observer;
  return counting() ? &observer : nullptr;
}

void count_post() {
  RecordFile* const file = record();
  if (file == nullptr) return;
  ThreadCounts& own = thread_counts();
  own.sent = true;
  add(own, current(*file, own).posts, 1);
  note_now(TraceKind::kPost, 0, own.request);
}

void count_to_device(std::uint64_t bytes) { count_copy(&Counts::to_device, TraceKind::kToDevice, bytes); }

void count_from_device(std::uint64_t bytes) {
  count_copy(&Counts::from_device, TraceKind::kFromDevice, bytes);
}

void note_transport(std::string_view name) {
  if (!counting()) return;
  if (RecordFile* const file = record(); file != nullptr) copy_text(file->record.transport, name);
}

void note_lost() {
  if (!counting()) return;
  if (RecordFile* const file = record(); file != nullptr) set(file->record.lost, 1);
}

void note_end() {
  if (!counting()) return;
  RecordFile* const file = record();
  if (file == nullptr) return;
  set(file->record.ended, 1);
  const std::uint64_t now = Clock::now();
  raise(file->record.last, now);
  take_reading(now);
}

bool is_tracing() { return counting() && trace() != nullptr; }

void note_execution(const protocol::Execution& execution) {
  TraceFile* const file = trace();
  if (file == nullptr) return;
  append(
      *file, thread_counts().cursor,
      {execution.begin_ns, execution.end_ns, execution.subject,
       std::uint32_t{execution.device} << 16 | execution.opcode, static_cast<std::uint32_t>(execution.stream),
       static_cast<std::uint32_t>(TraceKind::kExecution), execution.request_id});
}

void name_kernel(std::uint64_t function, std::string_view name) {
  if (TraceFile* const file = trace(); file != nullptr) add_name(*file, function, name);
}

void note_worker_clock(const WorkerClock& clock) {
  TraceFile* const file = trace();
  if (file == nullptr) return;
  if (file->head.worker_first.error_ns == 0) file->head.worker_first = clock;
  file->head.worker_last = clock;
}

void note_worker_limits(std::uint64_t executions_left_out, std::uint64_t executions_error_ns) {
  TraceFile* const file = trace();
  if (file == nullptr) return;
  set(file->head.executions_left_out, executions_left_out);
  set(file->head.executions_error_ns, executions_error_ns);
}

UnseenScope::UnseenScope() { ++thread_counts().waits; }
UnseenScope::~UnseenScope() { --thread_counts().waits; }

void restart(const std::string& directory) {
  Counting& counting = state();
  const MutexLock lock(counting.deciding);
  counting.directory = directory;
  counting.path.clear();
  files.record.store(nullptr, std::memory_order_release);  // pairs with record()
  files.trace.store(nullptr, std::memory_order_release);   // pairs with trace()
  detail::counting.store(Switch::kUndecided, std::memory_order_relaxed);
  thread_counts() = {};
}

std::string record_path() {
  Counting& counting = state();
  const MutexLock lock(counting.deciding);
  return counting.path;
}

}  // namespace tf::proxy::stats
