// SPDX-License-Identifier: Apache-2.0
// Scheduling of one block's HIP threads; see block_runner.h.
#include "worker/runtime/cpu/kernel/block_runner.h"

#include <algorithm>
#include <chrono>
#include <cstdio>

#include "worker/runtime/cpu/kernel/processor.h"

namespace tf::cpu {
namespace {

bool free_in(DeviceHeap& heap, void* memory) {
  const OutsideKernel outside;
  return heap.free(memory);
}

}  // namespace

const HiprServices BlockRunner::kServices = {
    &BlockRunner::barrier, &BlockRunner::exchange,    &BlockRunner::grid_barrier, &BlockRunner::print,
    &BlockRunner::trap,    &BlockRunner::clock_ns,    &BlockRunner::step,         &BlockRunner::allocate,
    &BlockRunner::release, &BlockRunner::clock_ticks, &BlockRunner::spins};

BlockRunner::BlockRunner() {
  bound_.runner = this;
  bound_.context.services = &kServices;
}

void BlockRunner::begin(RunningGrid& grid) {
  static_cast<void>(expect_crashes());  // without it a crash ends the process, as it would without us
  grid_ = &grid;
  const Grid& shape = grid.shape();
  HiprContext& c = bound_.context;
  for (int axis = 0; axis < 3; ++axis) {
    c.block_size[axis] = shape.threads[axis];
    c.grid_size[axis] = shape.blocks[axis];
    c.packet.workgroup_size[axis] = static_cast<std::uint16_t>(shape.threads[axis]);
    c.packet.grid_size[axis] = shape.threads[axis] * shape.blocks[axis];
  }
  c.packet.setup = 3;
  c.static_shared_bytes = grid.kernel().static_shared_bytes;
  c.dynamic_shared_bytes = shape.dynamic_shared_bytes;
  c.packet.group_bytes = c.static_shared_bytes + c.dynamic_shared_bytes;
  c.cooperative = shape.cooperative ? 1 : 0;
  c.threads_wait = grid.record().parks ? HIPR_THREADS_WAIT : HIPR_ON_ONE_STACK;
  alternates_ = false;
  grid.record().module->enter(&c);
}

void BlockRunner::end() {
  idle_.clear();
  FiberPool::process().give(slabs_);
}

void BlockRunner::run_block(std::uint64_t index) {
  const Grid& shape = grid_->shape();
  HiprContext& c = bound_.context;
  c.block[0] = static_cast<std::uint32_t>(index % shape.blocks[0]);
  c.block[1] = static_cast<std::uint32_t>(index / shape.blocks[0] % shape.blocks[1]);
  c.block[2] = static_cast<std::uint32_t>(index / shape.blocks[0] / shape.blocks[1]);
  trapped_ = false;
  rows_mode_ = !grid_->record().parks && !alternates_;
  if (rows_mode_) {
    run_rows();
  } else {
    run_parking();
  }
  if (shape.cooperative) grid_->leave_grid();
}

// Also on a fiber: its stack has a known size, and a trap can leave it.
void BlockRunner::run_rows() {
  if (own_ == nullptr) own_ = FiberSlab::make(1);
  if (own_ == nullptr) return grid_->fail(hipErrorOutOfMemory);
  spinner_turns_ = 0;
  running_fiber_ = &own_->fibers().front();
  running_fiber_->bind(&BlockRunner::fiber_body, &BlockRunner::on_crash, this);
  running_fiber_->resume();
  if (!rows_mode_) return finish_parking();
  if (trapped_) running_fiber_->restart();
}

// Every fiber's endless loop: do the current work, then return to the scheduler for more.
void BlockRunner::fiber_body(Fiber* self) {
  for (;;) {
    static_cast<BlockRunner*>(self->argument())->run_current();
    self->suspend();
  }
}

void BlockRunner::on_crash(void* runner, const Crash& crash) {
  static_cast<BlockRunner*>(runner)->give_up({crash.signal, crash.address, {}, false, {}});
}

void BlockRunner::give_up(const KernelFault& fault) {
  KernelFault placed = fault;
  const HiprContext& c = bound_.context;
  std::copy_n(c.block, 3, placed.block);
  placed.thread_is_known = !rows_mode_ || fault.signal == 0;  // a trap is a call, before which it is stored
  std::copy_n(c.thread, 3, placed.thread);
  grid_->fail(placed);
  trapped_ = true;
  running_fiber_->suspend();
}

void BlockRunner::run_current() {
  const RunningGrid& grid = *grid_;
  HiprContext& c = bound_.context;
  if (!rows_mode_) {
    grid.record().run(grid.arguments(), c.thread[0], c.thread[0] + 1);
    threads_[current_].state = State::kDone;
    return;
  }
  for (c.thread[2] = 0; c.thread[2] < c.block_size[2]; ++c.thread[2]) {
    for (c.thread[1] = 0; c.thread[1] < c.block_size[1]; ++c.thread[1]) {
      grid.record().run(grid.arguments(), 0, c.block_size[0]);
      if (rows_mode_) continue;
      threads_[current_].state = State::kDone;  // it waited in a loop; the others have fibers of their own
      return;
    }
  }
}

Fiber* BlockRunner::take_fiber() {
  if (idle_.empty()) {
    auto slab = FiberPool::process().take();
    if (slab == nullptr) return nullptr;
    for (Fiber& fiber : slab->fibers()) idle_.push_back(&fiber);
    slabs_.push_back(std::move(slab));
  }
  Fiber* const fiber = idle_.back();
  idle_.pop_back();
  fiber->bind(&BlockRunner::fiber_body, &BlockRunner::on_crash, this);
  return fiber;
}

void BlockRunner::place(std::uint32_t linear) {
  HiprContext& c = bound_.context;
  current_ = linear;
  c.thread[0] = linear % c.block_size[0];
  c.thread[1] = linear / c.block_size[0] % c.block_size[1];
  c.thread[2] = linear / c.block_size[0] / c.block_size[1];
}

void BlockRunner::put_back(HipThread& thread) {
  if (own_ == nullptr || thread.fiber != &own_->fibers().front()) idle_.push_back(thread.fiber);
  thread.fiber = nullptr;
}

void BlockRunner::begin_parking() {
  threads_.assign(grid_->threads(), HipThread{});
  waves_.resize((grid_->threads() + HIPR_WAVE_SIZE - 1) / HIPR_WAVE_SIZE);
  done_ = 0;
  operation_ = 0;
}

void BlockRunner::run_parking() {
  begin_parking();
  finish_parking();
}

void BlockRunner::finish_parking() {
  bool all_wait = false;
  while (run_waves(all_wait) && done_ < threads_.size()) {
    if (!all_wait || release_barrier(State::kBlockBarrier)) continue;
    if (release_barrier(State::kGridBarrier) && grid_->wait_for_grid()) continue;
    // Some wait for the block and some for the grid: no correct program does that.
    grid_->fail(hipErrorLaunchFailure);
    break;
  }
  if (done_ < threads_.size()) abandon();
}

bool BlockRunner::run_waves(bool& all_wait) {
  const auto count = static_cast<std::uint32_t>(threads_.size());
  all_wait = true;
  for (std::uint32_t first = 0; first < count; first += HIPR_WAVE_SIZE) {
    const std::uint32_t end = std::min(first + HIPR_WAVE_SIZE, count);
    std::uint32_t round = 0;
    do {
      if (!run_ready(first, end)) return false;
    } while (release_wave(first, end) && ++round < kRoundsAtOnce);
    if (round == kRoundsAtOnce || yielded_) all_wait = false;
    yielded_ = false;
  }
  return true;
}

bool BlockRunner::run_ready(std::uint32_t first, std::uint32_t end) {
  for (std::uint32_t i = first; i < end; ++i) {
    HipThread& thread = threads_[i];
    if (thread.state != State::kReady) continue;
    if (thread.fiber == nullptr) thread.fiber = take_fiber();
    if (thread.fiber == nullptr) {
      grid_->fail(hipErrorOutOfMemory);
      return false;
    }
    place(i);
    running_fiber_ = thread.fiber;
    thread.fiber->resume();
    if (trapped_) return false;
    if (thread.state != State::kDone) continue;
    put_back(thread);
    ++done_;
  }
  return true;
}

// After a trap or failure: no thread of this block continues.
void BlockRunner::abandon() {
  for (HipThread& thread : threads_) {
    if (thread.fiber == nullptr) continue;
    thread.fiber->restart();
    put_back(thread);
  }
}

const void* BlockRunner::earliest_site(std::uint32_t first, std::uint32_t end) const {
  const void* site = nullptr;
  for (std::uint32_t i = first; i < end; ++i) {
    const HipThread& thread = threads_[i];
    if (thread.state != State::kWave && thread.state != State::kStep) continue;
    if (site == nullptr || std::less<const void*>()(thread.site, site)) site = thread.site;
  }
  return site;
}

bool BlockRunner::release_all_steps(std::uint32_t first, std::uint32_t end) {
  bool any = false;
  for (std::uint32_t i = first; i < end; ++i) {
    if (threads_[i].state != State::kStep) continue;
    threads_[i].state = State::kReady;
    any = true;
  }
  return any;
}

// Of lanes that diverged, those at the earliest instruction run first, so that they meet the others where the
// paths join again. The hardware's execution mask does the same for structured code.
bool BlockRunner::release_wave(std::uint32_t first, std::uint32_t end) {
  const void* const site = earliest_site(first, end);
  if (site == nullptr) return false;
  Wave& wave = waves_[first / HIPR_WAVE_SIZE];
  std::uint64_t active = 0;
  bool others = false;
  for (std::uint32_t i = first; i < end; ++i) {
    const HipThread& thread = threads_[i];
    if (thread.state != State::kWave && thread.state != State::kStep) continue;
    if (thread.site != site) {
      others = true;
      continue;
    }
    active |= std::uint64_t{1} << (i - first);
    wave.values[i - first] = thread.offered;
  }
  wave.unfair_rounds = others ? wave.unfair_rounds + 1 : 0;
  if (wave.unfair_rounds >= kUnfairRounds) {
    wave.unfair_rounds = 0;
    if (release_all_steps(first, end)) return true;
  }
  for (std::uint32_t i = first; i < end; ++i) {
    if (((active >> (i - first)) & 1) == 0) continue;
    threads_[i].active = active;
    threads_[i].state = State::kReady;
  }
  return true;
}

bool BlockRunner::release_barrier(State state) {
  const auto waits = [state](const HipThread& t) { return t.state == state || t.state == State::kDone; };
  if (!std::all_of(threads_.begin(), threads_.end(), waits)) return false;
  for (HipThread& thread : threads_) {
    if (thread.state == state) thread.state = State::kReady;
  }
  barrier_result_ = gathered_;
  operation_ = 0;
  return true;
}

// Stops a code object whose note says that its threads never wait, and that waits nevertheless.
void BlockRunner::park(State state) {
  if (rows_mode_) trap(&bound_.context);
  threads_[current_].state = state;
  threads_[current_].fiber->suspend();
}

// True if the thread that runs in a row has made so many turns that it may be waiting for another thread.
bool BlockRunner::count_turn() {
  const HiprContext& c = bound_.context;
  const std::uint32_t thread = (c.thread[2] * c.block_size[1] + c.thread[1]) * c.block_size[0] + c.thread[0];
  if (thread != spinner_) spinner_turns_ = 0;
  spinner_ = thread;
  return ++spinner_turns_ >= kSpinningTurns;
}

// The threads before this one have ended, those behind it have not begun. It keeps the fiber.
void BlockRunner::leave_row() {
  begin_parking();
  for (std::uint32_t i = 0; i < spinner_; ++i) threads_[i].state = State::kDone;
  done_ = spinner_;
  threads_[spinner_].fiber = running_fiber_;
  current_ = spinner_;
  rows_mode_ = false;
  alternates_ = true;
  bound_.context.threads_wait = HIPR_THREADS_ALTERNATE;
}

void BlockRunner::spins(HiprContext* context) {
  BlockRunner& self = of(context);
  if (self.rows_mode_) {
    if (!self.count_turn()) return;
    self.leave_row();
  }
  self.yielded_ = true;
  self.threads_[self.current_].fiber->suspend();
}

std::int32_t BlockRunner::barrier(HiprContext* context, std::uint32_t operation, std::int32_t value) {
  BlockRunner& self = of(context);
  if (self.operation_ == 0) self.gathered_ = operation == 2 ? 1 : 0;
  if (operation != 0) self.operation_ = operation;
  if (operation == 1)
    self.gathered_ = static_cast<std::int32_t>(static_cast<std::uint32_t>(self.gathered_) +
                                               static_cast<std::uint32_t>(value));
  if (operation == 2) self.gathered_ &= value;
  if (operation == 3) self.gathered_ |= value;
  self.park(State::kBlockBarrier);
  return self.barrier_result_;
}

HiprWave BlockRunner::exchange(HiprContext* context, std::uint64_t value, const void* site) {
  BlockRunner& self = of(context);
  if (self.rows_mode_) trap(context);
  HipThread& thread = self.threads_[self.current_];
  thread.site = site;
  thread.offered = value;
  const std::uint32_t wave = self.current_ / HIPR_WAVE_SIZE;
  self.park(State::kWave);
  return {thread.active, self.waves_[wave].values};
}

void BlockRunner::step(HiprContext* context, const void* site) {
  BlockRunner& self = of(context);
  if (!self.rows_mode_) self.threads_[self.current_].site = site;
  self.park(State::kStep);
}

void BlockRunner::grid_barrier(HiprContext* context) { of(context).park(State::kGridBarrier); }

// The application's kernels print where its process prints; one write a call keeps lines whole.
void BlockRunner::print(HiprContext*, std::int32_t to_stderr, const char* text, std::uint64_t bytes) {
  const OutsideKernel outside;
  std::FILE* const stream = to_stderr != 0 ? stderr : stdout;
  std::fwrite(text, 1, static_cast<std::size_t>(bytes), stream);
  std::fflush(stream);
}

void BlockRunner::trap(HiprContext* context) { of(context).give_up({}); }

void* BlockRunner::allocate(HiprContext* context, std::uint64_t bytes) {
  const OutsideKernel outside;
  return of(context).grid_->heap().allocate(bytes);
}

void BlockRunner::release(HiprContext* context, void* memory) {
  if (free_in(of(context).grid_->heap(), memory)) return;
  KernelFault fault;
  fault.address = reinterpret_cast<std::uintptr_t>(memory);
  fault.wrong_free = true;
  of(context).give_up(fault);
}

std::uint64_t BlockRunner::clock_ns() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(now).count());
}

std::uint64_t BlockRunner::clock_ticks() { return cpu::clock_ticks(clock_ns()); }

}  // namespace tf::cpu
