// SPDX-License-Identifier: Apache-2.0
// Compiles hiprtc programs on separate threads.
#include "worker/session/compiles.h"

#include <algorithm>
#include <exception>
#include <new>
#include <system_error>
#include <thread>
#include <utility>

#include "hipcore/wire/gen/messages.h"
#include "hipcore/wire/rtc_program.h"
#include "transport/base/mutex.h"
#include "worker/base/notices.h"
#include "worker/sandbox/compile_options.h"
#include "worker/sandbox/compiler_walls.h"

namespace tf::worker {

struct Compiles::Job {
  FrameHeader request;
  std::uint64_t program = 0;
  int device = 0;
  std::vector<std::byte> bytes;
};

// Threads of an ended session still use it; the runtime library is never unloaded.
struct Compiles::Shared {
  struct Result {
    std::uint64_t program = 0;
    std::vector<std::byte> bytes;
  };

  std::string target_of(int device) const {
    const auto index = static_cast<std::size_t>(device);  // negative: too large
    return index < targets.size() ? targets[index] : std::string();
  }
  // Sending never blocks, and the sender stays while the mutex is held.
  void finish(const Job& job, hipError_t error, std::vector<std::byte> result) TF_REQUIRES(mutex);

  RtcFunctions rtc;
  decltype(&::hipSetDevice) set_device = nullptr;
  std::vector<std::string> targets;            // by device, if programs have to name one
  std::shared_ptr<const CompilerWalls> walls;  // null: none

  Mutex mutex;
  Sender* sender TF_GUARDED_BY(mutex) = nullptr;  // null once the session ends
  Share* share TF_GUARDED_BY(mutex) = nullptr;    // the same
  unsigned threads TF_GUARDED_BY(mutex) = 0;
  std::deque<Job> jobs TF_GUARDED_BY(mutex);
  std::size_t jobs_bytes TF_GUARDED_BY(mutex) = 0;
  std::deque<Result> results TF_GUARDED_BY(mutex);  // oldest first
  std::size_t results_bytes TF_GUARDED_BY(mutex) = 0;
};

Compiles::Compiles(const Parts& parts)
    : bulk_(parts.bulk),
      copies_(parts.copies),
      life_(parts.life),
      mover_(parts.mover),
      share_(parts.share),
      shared_(std::make_shared<Shared>()) {
  shared_->rtc = parts.rtc;
  shared_->set_device = parts.hip.hipSetDevice;
  if (!parts.rtc.knows_target)
    for (const protocol::DeviceSnapshot& device : parts.snapshot.devices)
      shared_->targets.push_back(device.properties.gcn_arch_name);
  shared_->walls = parts.walls;
  shared_->sender = &parts.sender;
  shared_->share = &parts.share;
}

Compiles::~Compiles() {
  {
    const MutexLock lock(shared_->mutex);
    shared_->sender = nullptr;
    shared_->share = nullptr;
    shared_->jobs.clear();
  }
  // The transport may still read what has not arrived: leaked, for the process ends with its session.
  sweep();
  for (std::unique_ptr<Sending>& unsent : sending_) static_cast<void>(unsent.release());
}

std::size_t Compiles::held_bytes() const {
  std::size_t bytes = 0;
  for (const Program& program : programs_) bytes += program.bytes.size();
  const MutexLock lock(shared_->mutex);
  return bytes + shared_->jobs_bytes;
}

void Compiles::receive(std::uint64_t tag, std::uint64_t bytes) {
  if (bytes == 0) return;
  if (bytes > protocol::kRtcProgramBytesMax || programs_.size() >= kProgramsMax ||
      held_bytes() + bytes > kProgramsBytesMax)
    return copies_.discard(tag, bytes);
  Program program{tag, std::vector<std::byte>(static_cast<std::size_t>(bytes))};
  if (copies_.receive(tag, program.bytes) == hipSuccess) programs_.push_back(std::move(program));
}

hipError_t Compiles::start(const FrameHeader& request, std::uint64_t program, int device) {
  const auto sent = std::find_if(programs_.begin(), programs_.end(),
                                 [program](const Program& entry) { return entry.tag == program; });
  if (sent == programs_.end()) return hipErrorOutOfMemory;  // of a correct client's: it was too much
  Job job{request, program, device, std::move(sent->bytes)};
  programs_.erase(sent);
  if (!share_.take(Limit::kCompiles, Counter::kCompiles, 1)) return hipErrorOutOfMemory;
  const hipError_t error = enqueue(std::move(job));
  if (error != hipSuccess) share_.give(Counter::kCompiles, 1);
  return error;
}

hipError_t Compiles::enqueue(Job job) {
  const MutexLock lock(shared_->mutex);
  if (shared_->jobs.size() >= kProgramsMax) return hipErrorOutOfMemory;
  if (shared_->threads < kCompilesAtOnce) {
    try {
      std::thread([shared = shared_] { work(shared); }).detach();
      ++shared_->threads;
    } catch (const std::system_error&) {
      if (shared_->threads == 0) return hipErrorOutOfMemory;  // otherwise one of those that run comes to it
    }
  }
  shared_->jobs_bytes += job.bytes.size();
  shared_->jobs.push_back(std::move(job));
  return hipSuccess;
}

namespace {

protocol::RtcResult refused(hiprtcResult result, const Status& why) {
  protocol::RtcResult answer;
  answer.result = result;
  answer.log = why.message() + "\n";
  return answer;
}

// Within the walls, which stay around this thread.
protocol::RtcResult compile_walled(const RtcFunctions& rtc, const CompilerWalls& walls,
                                   const protocol::RtcProgram& program) {
  if (Status fits = check_compile_options(program.options); !fits)
    return refused(HIPRTC_ERROR_INVALID_OPTION, fits);
  if (Status inside = walls.enter(); !inside) return refused(HIPRTC_ERROR_INTERNAL_ERROR, inside);
  return compile_program(rtc, program);
}

bool names_target(const std::string& option) {
  return option.starts_with("--offload-arch") || option.starts_with("--gpu-architecture");
}

// `target`: for a program that names none; empty: the compiler knows it.
hipError_t compile(const RtcFunctions& rtc, const std::string& target, const CompilerWalls* walls,
                   std::span<const std::byte> program, std::vector<std::byte>& encoded) {
  try {
    Result<protocol::RtcProgram> decoded = protocol::decode_rtc_program(program);
    if (!decoded) return hipErrorInvalidValue;
    if (!target.empty() && std::ranges::none_of(decoded->options, names_target))
      decoded->options.push_back("--offload-arch=" + target);
    Result<std::vector<std::byte>> result = protocol::encode(
        walls == nullptr ? compile_program(rtc, *decoded) : compile_walled(rtc, *walls, *decoded));
    if (!result) return hipErrorUnknown;
    encoded = std::move(*result);
    return hipSuccess;
  } catch (const std::bad_alloc&) {
    return hipErrorOutOfMemory;
  } catch (const std::exception&) {
    return hipErrorUnknown;
  }
}

}  // namespace

// Walls stay around a thread, and behind them a runtime could not open another device: each job then has a
// thread to itself.
hipError_t Compiles::run(const Shared& shared, const Job& job, std::vector<std::byte>& result) {
  hipError_t error = hipErrorOutOfMemory;
  const auto whole = [&] {
    error = shared.set_device(job.device);
    if (error == hipSuccess)
      error = compile(shared.rtc, shared.target_of(job.device), shared.walls.get(), job.bytes, result);
  };
  if (shared.walls == nullptr) return whole(), error;
  try {
    std::thread(whole).join();
  } catch (const std::system_error&) {  // the error stays what it is: no thread
  }
  return error;
}

void Compiles::work(const std::shared_ptr<Shared>& shared) {
  UniqueLock lock(shared->mutex);
  while (!shared->jobs.empty()) {
    const Job job = std::move(shared->jobs.front());
    shared->jobs.pop_front();
    lock.unlock();
    std::vector<std::byte> result;
    const hipError_t error = run(*shared, job, result);
    lock.lock();
    shared->jobs_bytes -= job.bytes.size();
    shared->finish(job, error, std::move(result));
  }
  --shared->threads;
}

void Compiles::Shared::finish(const Job& job, hipError_t error, std::vector<std::byte> result) {
  if (sender == nullptr) return;
  share->give(Counter::kCompiles, 1);
  if (error != hipSuccess) return end_request(*sender, job.request, error);
  protocol::CompileProgramReply reply{};
  reply.bytes = result.size();
  results_bytes += result.size();
  results.push_back({job.program, std::move(result)});
  while (results.size() > kResultsMax || results_bytes > kResultsBytesMax) {
    results_bytes -= results.front().bytes.size();
    results.pop_front();
  }
  end_request(*sender, job.request, hipSuccess, std::as_bytes(std::span(&reply, 1)));
}

void Compiles::fetch(std::uint64_t program, std::uint64_t tag) {
  sweep();
  auto sending = std::make_unique<Sending>();
  {
    const MutexLock lock(shared_->mutex);
    auto& results = shared_->results;
    const auto found = std::find_if(results.begin(), results.end(), [program](const Shared::Result& entry) {
      return entry.program == program;
    });
    if (found != results.end()) {
      sending->bytes = std::move(found->bytes);
      shared_->results_bytes -= sending->bytes.size();
      results.erase(found);
    }
  }
  if (sending->bytes.empty()) return copies_.abort(tag, hipErrorInvalidHandle);
  const Status sent = bulk_.send(tag, sending->bytes, sending->completion);
  if (!sent.is_ok()) return life_.end(sent);
  sending_.push_back(std::move(sending));
  mover_.drive();
}

void Compiles::sweep() {
  sending_.remove_if([](const std::unique_ptr<Sending>& entry) { return entry->completion.done(); });
}

}  // namespace tf::worker
