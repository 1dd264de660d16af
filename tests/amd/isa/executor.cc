// SPDX-License-Identifier: Apache-2.0
// Executor: hands the work-groups of a dispatch to threads, and runs their waves in turns.
#include "tests/amd/isa/executor.h"

#include <immintrin.h>
#include <time.h>

#include <algorithm>
#include <cinttypes>
#include <condition_variable>
#include <cstdio>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>

#include "tests/amd/isa/decode.h"
#include "tests/amd/isa/indexed.h"
#include "tests/amd/isa/launch.h"

namespace tf::amd::isa {
namespace {

// Waves of a device advance together. Kernels rely on it where they lack a barrier, such as rocSOLVER's
// syevj: a wave that is far ahead writes what the others are about to read. So a turn is short.
constexpr unsigned kBlocksInTurn = 16;           // of a wave, before the next one has its turn
constexpr unsigned kTurnsBeforeParking = 16384;  // of a work-group, before another one starts
constexpr std::size_t kParkedMax = 2048;  // work-groups that have begun and wait: none starts beyond them

struct Job {
  Job(Launch what, Code& its_code) : launch(std::move(what)), code(its_code) {}
  const Launch launch;
  Code& code;
  std::atomic<std::uint64_t> next_group{0};
  std::atomic<bool> failed{false};
  std::atomic<std::uint64_t> instructions{0};
  std::atomic<std::uint64_t> nanoseconds{0};  // of processors
  std::mutex mutex;
  std::condition_variable idle;
  unsigned helpers = 0;  // threads of the pool that work on it
  std::deque<std::unique_ptr<WorkGroup>> parked;
  std::optional<Failure> failure;

  bool cancelled() const { return launch.dispatch.cancel != nullptr && launch.dispatch.cancel->load(); }
  void fail(Failure why) {
    const std::lock_guard<std::mutex> lock(mutex);
    if (!failure) failure = std::move(why);
    failed = true;
  }
};

std::uint64_t thread_nanoseconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(now.tv_nsec);
}

Block* next_block(Block* block, Wave& w, Code& code) {
  for (std::atomic<Block*>& follower : block->next) {
    Block* known = follower.load(std::memory_order_acquire);
    if (known != nullptr && known->begin == w.next) return known;
  }
  w.current = nullptr;
  Block* found = code.block(w.next, *w.memory);
  std::atomic<Block*>& place = block->next[block->next[0].load() == nullptr ? 0 : 1];
  place.store(found, std::memory_order_release);
  return found;
}

void run_indexed(Wave& w, const Block& block) {
  for (const Instruction& in : block.instructions) {
    w.current = &in;
    const Instruction moved = with_indices(w, in);
    moved.handler(w, moved);
  }
}

void run_turn(Wave& w, Code& code) {
  w.state = Wave::State::kRuns;
  w.control_now = 0;  // another wave may have set it
  w.current = nullptr;
  Block* block = w.block != nullptr ? next_block(w.block, w, code) : code.block(w.next, *w.memory);
  for (unsigned blocks = 0; blocks < kBlocksInTurn; ++blocks) {
    w.next = block->end;
    w.block = block;
    if (indexes_registers(w)) {
      run_indexed(w, *block);
    } else {
      for (const Instruction& in : block->instructions) {
        w.current = &in;
        in.handler(w, in);
      }
    }
    w.instructions += block->instructions.size();
    if (w.state != Wave::State::kRuns) return;
    block = next_block(block, w, code);
  }
}

enum class Turn : std::uint8_t { kEnded, kWorks, kSleeps };

// Each wave that can gets one turn.
Turn run_round(WorkGroup& group, Code& code, Wave*& running) {
  std::size_t ended = 0;
  std::size_t waiting = 0;
  std::size_t sleeping = 0;
  for (Wave& w : group.waves) {
    if (w.state != Wave::State::kEnded && w.state != Wave::State::kAtBarrier) {
      running = &w;
      run_turn(w, code);
      if (w.state == Wave::State::kYields) ++sleeping;
    }
    if (w.state == Wave::State::kEnded) ++ended;
    if (w.state == Wave::State::kAtBarrier) ++waiting;
  }
  if (ended == group.waves.size()) return Turn::kEnded;
  if (ended + waiting < group.waves.size()) {
    return ended + waiting + sleeping == group.waves.size() ? Turn::kSleeps : Turn::kWorks;
  }
  for (Wave& w : group.waves) {
    if (w.state == Wave::State::kAtBarrier) w.state = Wave::State::kRuns;
  }
  return Turn::kWorks;
}

std::string describe(const Failure& failure) {
  char text[64];
  std::snprintf(text, sizeof text, " at pc 0x%" PRIx64, failure.program_counter);
  return std::string(name(failure.kind)) + ": " + failure.text + text;
}

}  // namespace

class Executor::State {
 public:
  State(const AddressSpace& memory, unsigned threads, const std::string& processor)
      : memory_(memory),
        processor_(find_processor(processor)),
        problem_("no processor is called " + processor) {
    if (processor_ != nullptr) {
      code64_.emplace(*processor_, 64);
      if (processor_->wave32) code32_.emplace(*processor_, 32);
      problem_ = code64_->problem();
      if (problem_.empty() && code32_) problem_ = code32_->problem();
    }
    if (threads == 0) threads = std::max(1U, std::thread::hardware_concurrency());
    for (unsigned i = 1; i < threads; ++i) threads_.emplace_back([this] { serve(); });
  }
  ~State() {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      stopping_ = true;
    }
    work_.notify_all();
    for (std::thread& thread : threads_) thread.join();
  }

  std::optional<Failure> run(const Dispatch& dispatch) {
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) {
      return Failure{FailureKind::kUnavailable, 0, 0, 0, "this processor has no AVX2"};
    }
    if (!problem_.empty()) return Failure{FailureKind::kUnavailable, 0, 0, 0, problem_};
    std::string why;
    std::optional<Launch> launch = prepare(dispatch, *processor_, memory_, why);
    if (!launch) return Failure{FailureKind::kInvalidDispatch, 0, 0, 0, why};
    Code& code = launch->lanes == 32 ? *code32_ : *code64_;
    const auto job = std::make_shared<Job>(std::move(*launch), code);
    code.enter();
    if (job->launch.group_count > 1 && !threads_.empty()) {
      {
        const std::lock_guard<std::mutex> lock(mutex_);
        const std::uint64_t wanted = std::min<std::uint64_t>(job->launch.group_count - 1, threads_.size());
        for (std::uint64_t i = 0; i < wanted; ++i) jobs_.push_back(job);
      }
      work_.notify_all();
    }
    work_on(*job);
    {
      std::unique_lock<std::mutex> lock(job->mutex);
      job->idle.wait(lock, [&] { return job->helpers == 0; });
    }
    code.leave();
    instructions_ += job->instructions;
    if (dispatch.cost != nullptr)
      *dispatch.cost = {job->instructions, static_cast<double>(job->nanoseconds) * 1e-9};
    return job->failure;
  }

  void forget(std::uint64_t address, std::uint64_t bytes) {
    if (code64_) code64_->forget(address, bytes);
    if (code32_) code32_->forget(address, bytes);
  }
  std::uint64_t instructions() const { return instructions_; }

 private:
  void serve() {
    while (true) {
      std::shared_ptr<Job> job;
      {
        std::unique_lock<std::mutex> lock(mutex_);
        work_.wait(lock, [&] { return stopping_ || !jobs_.empty(); });
        if (stopping_) return;
        job = std::move(jobs_.front());
        jobs_.pop_front();
        const std::lock_guard<std::mutex> helper(job->mutex);
        ++job->helpers;
      }
      work_on(*job);
      const std::lock_guard<std::mutex> helper(job->mutex);
      if (--job->helpers == 0) job->idle.notify_all();
    }
  }

  // A fresh work-group, or one that has waited; null: nothing left to do here.
  std::unique_ptr<WorkGroup> take(Job& job, std::unique_ptr<WorkGroup>& spare, MemoryView& memory) {
    std::unique_lock<std::mutex> lock(job.mutex);
    if (job.parked.size() < kParkedMax) {
      const std::uint64_t number = job.next_group;
      if (number < job.launch.group_count) {
        job.next_group = number + 1;
        lock.unlock();
        std::unique_ptr<WorkGroup> group =
            spare != nullptr ? std::move(spare) : std::make_unique<WorkGroup>();
        start_group(*group, job.launch, number, memory);
        return group;
      }
    }
    if (job.parked.empty()) return nullptr;
    std::unique_ptr<WorkGroup> group = std::move(job.parked.front());
    job.parked.pop_front();
    for (Wave& w : group->waves) w.memory = &memory;
    return group;
  }

  void work_on(Job& job) {
    const unsigned host_control = _mm_getcsr();
    const std::uint64_t begin = thread_nanoseconds();
    MemoryView memory(memory_);
    std::unique_ptr<WorkGroup> spare;
    while (!job.failed) {
      std::unique_ptr<WorkGroup> group = take(job, spare, memory);
      if (group == nullptr) break;
      const bool ended = run_group(job, *group);
      _mm_setcsr(host_control);
      if (ended) {
        for (const Wave& w : group->waves) job.instructions += w.instructions;
        spare = std::move(group);
      } else {
        const std::lock_guard<std::mutex> lock(job.mutex);
        job.parked.push_back(std::move(group));
      }
    }
    job.nanoseconds += thread_nanoseconds() - begin;
  }

  // False: it is not done, but others shall have their turn.
  bool run_group(Job& job, WorkGroup& group) {
    Wave* running = nullptr;
    try {
      for (unsigned turns = 0; turns < kTurnsBeforeParking; ++turns) {
        const Turn turn = run_round(group, job.code, running);
        if (turn == Turn::kEnded) return true;
        if (job.failed) return true;
        if (job.cancelled()) {
          job.fail(Failure{FailureKind::kCancelled, 0, 0, 0, "cancelled"});
          return true;
        }
        if (turn == Turn::kSleeps) return false;
      }
      return false;
    } catch (const Stop& stop) {
      const std::uint64_t pc = running->current != nullptr ? running->current->address : running->next;
      Failure failure{stop.kind, pc, stop.address, stop.trap, stop.text};
      if (running->current != nullptr) failure.text += ": \"" + job.code.text(pc, *running->memory) + "\"";
      failure.text = describe(failure);
      job.fail(std::move(failure));
      return true;
    }
  }

  const AddressSpace& memory_;
  const Processor* processor_;
  std::string problem_;                  // empty: it works
  std::optional<Code> code64_, code32_;  // by lanes of a wave
  std::atomic<std::uint64_t> instructions_{0};
  std::mutex mutex_;
  std::condition_variable work_;
  bool stopping_ = false;
  std::deque<std::shared_ptr<Job>> jobs_;  // one entry for each thread that is wanted
  std::vector<std::thread> threads_;
};

const char* name(FailureKind kind) {
  switch (kind) {
    case FailureKind::kUnknownInstruction: return "unknown instruction";
    case FailureKind::kUnsupportedOperand: return "unsupported operand form";
    case FailureKind::kMemoryFault: return "memory fault";
    case FailureKind::kMisaligned: return "misaligned access";
    case FailureKind::kTrap: return "trap";
    case FailureKind::kCancelled: return "cancelled";
    case FailureKind::kInvalidDispatch: return "invalid dispatch";
    case FailureKind::kUnavailable: return "unavailable";
  }
  return "failure";
}

Executor::Executor(const AddressSpace& memory, unsigned threads, const std::string& processor)
    : state_(std::make_unique<State>(memory, threads, processor)) {}
Executor::~Executor() = default;

std::optional<Failure> Executor::run(const Dispatch& dispatch) { return state_->run(dispatch); }
void Executor::forget(std::uint64_t address, std::uint64_t bytes) { state_->forget(address, bytes); }
std::uint64_t Executor::instructions() const { return state_->instructions(); }

}  // namespace tf::amd::isa
