// SPDX-License-Identifier: Apache-2.0
// What AMD's device libraries and the amdgcn back end give a kernel, for the host's cores: indices, barriers,
// wave operations, printf pieces, integer helpers. hipcc-cpu links it into every code object as IR.
//
// Names starting with __hipr_amdgcn_ replace llvm.amdgcn.* (dots become underscores). Everything here runs on
// a HIP thread's stack. Compiled by clang only, never part of the project's own libraries.
#include "context.h"
#include "predicates.h"

#define API extern "C" __attribute__((visibility("hidden")))
// Inlined, so that a return address distinguishes places in a kernel.
#define WAVE_API extern "C" __attribute__((visibility("hidden"), always_inline))
// A call that all lanes make together must stay a single one: not duplicated where paths diverge, not moved,
// and not made one with that of the other path.
#define TOGETHER __attribute__((noinline, convergent, nomerge))

namespace {
thread_local HiprContext* context;

inline uint32_t linear_thread() {
  const HiprContext* c = context;
  return (c->thread[2] * c->block_size[1] + c->thread[1]) * c->block_size[0] + c->thread[0];
}
inline uint32_t own_lane() { return linear_thread() % HIPR_WAVE_SIZE; }
TOGETHER HiprWave exchange(uint64_t value) {
  return context->services->exchange(context, value, __builtin_return_address(0));
}

inline uint32_t pick(const HiprWave& wave, uint32_t lane, uint32_t otherwise) {
  return (wave.active >> lane) & 1 ? static_cast<uint32_t>(wave.values[lane]) : otherwise;
}
inline uint64_t ballot(bool predicate) {
  const HiprWave wave = exchange(predicate);
  uint64_t mask = 0;
  for (uint32_t lane = 0; lane < HIPR_WAVE_SIZE; ++lane) {
    if (((wave.active >> lane) & 1) && wave.values[lane]) mask |= uint64_t{1} << lane;
  }
  return mask;
}
// The lane that a DPP control word reads for `lane`, or -1 where it reads outside its row or wave.
inline int32_t dpp_source(int32_t lane, int32_t control) {
  const int32_t row = lane & ~15, place = lane & 15, n = control & 15;
  if (control <= 0xff) return (lane & ~3) | ((control >> (2 * (lane & 3))) & 3);
  if (control <= 0x10f) return place + n < 16 ? lane + n : -1;  // row_shl
  if (control <= 0x11f) return place - n >= 0 ? lane - n : -1;  // row_shr
  if (control <= 0x12f) return row | ((place - n) & 15);        // row_ror
  if (control == 0x130) return lane + 1 < 64 ? lane + 1 : -1;   // wave_shl
  if (control == 0x134) return (lane + 1) & 63;                 // wave_rol
  if (control == 0x138) return lane - 1;                        // wave_shr
  if (control == 0x13c) return (lane - 1) & 63;                 // wave_ror
  if (control == 0x140) return row | (15 - place);              // row_mirror
  if (control == 0x141) return (lane & ~7) | (7 - (lane & 7));  // row_half_mirror
  if (control == 0x142) return row >= 16 ? row - 1 : -1;        // row_bcast:15
  if (control == 0x143) return lane >= 32 ? 31 : -1;            // row_bcast:31
  return lane;
}
}  // namespace

// ---- the executor's side ------------------------------------------------------------------------------
API void __hipr_enter(HiprContext* c) { context = c; }
API HiprContext* __hipr_context() { return context; }
API void __hipr_set_thread_x(uint32_t x) { context->thread[0] = x; }
// After a thread of a row: whether the same stack is for the next one.
API bool __hipr_row_goes_on() { return context->threads_wait == HIPR_ON_ONE_STACK; }
// Called by a function that finds too little stack left (ir.py); the rest is enough for this.
API void __hipr_stack_overflow() {
  static const char text[] = "hip-remote: a kernel's thread needs more stack than there is\n";
  context->services->print(context, 1, text, sizeof text - 1);
  context->services->trap(context);
}

// ---- indices ------------------------------------------------------------------------------------------
API uint64_t __ockl_get_local_id(uint32_t d) { return d < 3 ? context->thread[d] : 0; }
API uint64_t __ockl_get_group_id(uint32_t d) { return d < 3 ? context->block[d] : 0; }
API uint64_t __ockl_get_local_size(uint32_t d) { return d < 3 ? context->block_size[d] : 1; }
API uint64_t __ockl_get_num_groups(uint32_t d) { return d < 3 ? context->grid_size[d] : 1; }
API uint64_t __ockl_get_global_size(uint32_t d) {
  return d < 3 ? uint64_t{context->grid_size[d]} * context->block_size[d] : 1;
}
API uint64_t __ockl_get_global_id(uint32_t d) {
  return d < 3 ? uint64_t{context->block[d]} * context->block_size[d] + context->thread[d] : 0;
}
API uint32_t __ockl_lane_u32() { return own_lane(); }
API uint32_t __hipr_amdgcn_workitem_id_x() { return context->thread[0]; }
API uint32_t __hipr_amdgcn_workitem_id_y() { return context->thread[1]; }
API uint32_t __hipr_amdgcn_workitem_id_z() { return context->thread[2]; }
API uint32_t __hipr_amdgcn_workgroup_id_x() { return context->block[0]; }
API uint32_t __hipr_amdgcn_workgroup_id_y() { return context->block[1]; }
API uint32_t __hipr_amdgcn_workgroup_id_z() { return context->block[2]; }
API char* __hipr_amdgcn_dispatch_ptr() { return reinterpret_cast<char*>(&context->packet); }
API uint32_t __hipr_amdgcn_groupstaticsize() { return context->static_shared_bytes; }
API uint32_t __hipr_amdgcn_wavefrontsize() { return HIPR_WAVE_SIZE; }
API uint32_t __hipr_amdgcn_mbcnt_lo(uint32_t mask, uint32_t base) {
  const uint32_t lane = own_lane();
  return base + __builtin_popcount(lane >= 32 ? mask : mask & ((1u << lane) - 1));
}
API uint32_t __hipr_amdgcn_mbcnt_hi(uint32_t mask, uint32_t base) {
  const uint32_t lane = own_lane();
  return lane < 32 ? base : base + __builtin_popcount(mask & ((1u << (lane - 32)) - 1));
}

// ---- barriers -----------------------------------------------------------------------------------------
API void __hipr_amdgcn_s_barrier() { context->services->barrier(context, 0, 0); }
API int32_t __ockl_wgred_add_i32(int32_t a) { return context->services->barrier(context, 1, a); }
API int32_t __ockl_wgred_and_i32(int32_t a) { return context->services->barrier(context, 2, a != 0); }
API int32_t __ockl_wgred_or_i32(int32_t a) { return context->services->barrier(context, 3, a != 0); }
WAVE_API void __hipr_amdgcn_wave_barrier() { exchange(0); }
API TOGETHER void __hipr_wave_sync() { context->services->step(context, __builtin_return_address(0)); }
API TOGETHER void __hipr_wave_step() {
  if (context->threads_wait == HIPR_THREADS_WAIT)
    context->services->step(context, __builtin_return_address(0));
}
API TOGETHER void __hipr_wave_turns() {
  if (context->threads_wait == HIPR_THREADS_WAIT)
    context->services->step(context, __builtin_return_address(0));
  else
    context->services->spins(context);
}
// Before an atomic operation in a loop, which may wait with it for another thread.
WAVE_API void __hipr_wave_turn() {
  if (++context->turns % HIPR_TURNS_AT_ONCE == 0) __hipr_wave_turns();
}
// The same before a load or store in a loop that is a point to wait at.
WAVE_API void __hipr_wave_step_turn() {
  if (context->threads_wait == HIPR_THREADS_WAIT)
    __hipr_wave_step();
  else
    __hipr_wave_turn();
}
API int32_t __ockl_grid_is_valid() { return context->cooperative != 0; }
API void __ockl_grid_sync() { context->services->grid_barrier(context); }
API void __ockl_gws_init(uint32_t, uint32_t) {}
API void __ockl_gws_barrier(uint32_t, uint32_t) { context->services->grid_barrier(context); }
API uint32_t __ockl_multi_grid_num_grids() { return 1; }
API uint32_t __ockl_multi_grid_grid_rank() { return 0; }
API uint32_t __ockl_multi_grid_size() {
  const HiprContext* c = context;
  return c->packet.grid_size[0] * c->packet.grid_size[1] * c->packet.grid_size[2];
}
API uint32_t __ockl_multi_grid_thread_rank() {
  const HiprContext* c = context;
  const uint32_t block = (c->block[2] * c->grid_size[1] + c->block[1]) * c->grid_size[0] + c->block[0];
  return block * c->block_size[0] * c->block_size[1] * c->block_size[2] + linear_thread();
}
API int32_t __ockl_multi_grid_is_valid() { return context->cooperative != 0; }
API void __ockl_multi_grid_sync() { context->services->grid_barrier(context); }
API void __atomic_work_item_fence(uint32_t, uint32_t, uint32_t) { __atomic_thread_fence(__ATOMIC_SEQ_CST); }

// ---- wave operations ----------------------------------------------------------------------------------
WAVE_API uint32_t __hipr_amdgcn_ds_bpermute(uint32_t byte_index, uint32_t value) {
  return pick(exchange(value), (byte_index >> 2) % HIPR_WAVE_SIZE, 0);
}
WAVE_API uint32_t __hipr_amdgcn_ds_permute(uint32_t byte_index, uint32_t value) {
  const HiprWave wave = exchange(uint64_t{(byte_index >> 2) % HIPR_WAVE_SIZE} << 32 | value);
  uint32_t result = 0;
  for (uint32_t lane = 0; lane < HIPR_WAVE_SIZE; ++lane) {
    if (((wave.active >> lane) & 1) && wave.values[lane] >> 32 == own_lane()) {
      result = static_cast<uint32_t>(wave.values[lane]);
    }
  }
  return result;
}
WAVE_API uint32_t __hipr_amdgcn_ds_swizzle(uint32_t value, uint32_t pattern) {
  const uint32_t lane = own_lane();
  const uint32_t quad = (lane & ~3u) | ((pattern >> (2 * (lane & 3))) & 3);
  const uint32_t masked = (((lane & 31) & (pattern & 31)) | ((pattern >> 5) & 31)) ^ ((pattern >> 10) & 31);
  return pick(exchange(value), pattern & 0x8000 ? quad : (lane & 32) | masked, 0);
}
WAVE_API uint32_t __hipr_amdgcn_update_dpp_i32(uint32_t old, uint32_t value, int32_t control, int32_t row_mask,
                                          int32_t bank_mask, bool bound_control) {
  const int32_t lane = static_cast<int32_t>(own_lane());
  const HiprWave wave = exchange(value);
  if (!((row_mask >> (lane / 16)) & 1) || !((bank_mask >> (lane % 16 / 4)) & 1)) return old;
  const int32_t source = dpp_source(lane, control);
  if (source < 0 || !((wave.active >> source) & 1)) return bound_control ? 0 : old;
  return static_cast<uint32_t>(wave.values[source]);
}
WAVE_API uint32_t __hipr_amdgcn_mov_dpp_i32(uint32_t value, int32_t control, int32_t row_mask, int32_t bank_mask,
                                       bool bound_control) {
  return __hipr_amdgcn_update_dpp_i32(0, value, control, row_mask, bank_mask, bound_control);
}
WAVE_API uint32_t __hipr_amdgcn_readfirstlane(uint32_t value) {
  const HiprWave wave = exchange(value);
  return static_cast<uint32_t>(wave.values[__builtin_ctzll(wave.active)]);
}
WAVE_API uint32_t __hipr_amdgcn_readlane(uint32_t value, uint32_t lane) {
  return pick(exchange(value), lane % HIPR_WAVE_SIZE, 0);
}
WAVE_API uint64_t __hipr_amdgcn_icmp_i64_i32(uint32_t a, uint32_t b, int32_t predicate) {
  return ballot(compare_int<uint32_t, int32_t>(a, b, predicate));
}
WAVE_API uint64_t __hipr_amdgcn_icmp_i64_i64(uint64_t a, uint64_t b, int32_t predicate) {
  return ballot(compare_int<uint64_t, int64_t>(a, b, predicate));
}
WAVE_API uint64_t __hipr_amdgcn_fcmp_i64_f32(float a, float b, int32_t predicate) {
  return ballot(compare_float(a, b, predicate));
}
WAVE_API uint64_t __hipr_amdgcn_fcmp_i64_f64(double a, double b, int32_t predicate) {
  return ballot(compare_float(a, b, predicate));
}
WAVE_API uint64_t __hipr_amdgcn_read_exec() { return exchange(0).active; }
WAVE_API uint32_t __hipr_amdgcn_read_exec_lo() { return static_cast<uint32_t>(exchange(0).active); }
WAVE_API uint32_t __hipr_amdgcn_read_exec_hi() { return static_cast<uint32_t>(exchange(0).active >> 32); }
// What newer compilers make of the same question and of votes.
WAVE_API uint64_t __hipr_amdgcn_ballot_i64(bool predicate) { return ballot(predicate); }
WAVE_API uint32_t __hipr_amdgcn_ballot_i32(bool predicate) { return static_cast<uint32_t>(ballot(predicate)); }
WAVE_API bool __ockl_wfany_i32(int32_t a) { return ballot(a != 0) != 0; }
WAVE_API bool __ockl_wfall_i32(int32_t a) {
  const HiprWave wave = exchange(a != 0);
  for (uint32_t lane = 0; lane < HIPR_WAVE_SIZE; ++lane) {
    if (((wave.active >> lane) & 1) && !wave.values[lane]) return false;
  }
  return true;
}
WAVE_API uint32_t __ockl_activelane_u32() {
  const uint64_t below = (uint64_t{1} << own_lane()) - 1;
  return static_cast<uint32_t>(__builtin_popcountll(exchange(0).active & below));
}

// ---- clocks, memory -----------------------------------------------------------------------------------
// A wave's clocks: 100 MHz for the real-time one, as on the GPU; the device's rate for the other.
API uint64_t __hipr_amdgcn_s_memrealtime() { return context->services->clock_ns() / 10; }
API uint64_t __ockl_steadyctr_u64() { return __hipr_amdgcn_s_memrealtime(); }
API uint64_t __hipr_amdgcn_s_memtime() { return context->services->clock_ticks(); }
API uint32_t __hipr_amdgcn_s_getreg(int32_t) { return 0; }
API void __hipr_amdgcn_s_sleep(int32_t) { __builtin_ia32_pause(); }
API void __hipr_amdgcn_s_waitcnt(int32_t) {}
API bool __hipr_amdgcn_is_shared(const char*) { return false; }
API bool __hipr_amdgcn_is_private(const char*) { return false; }
API void __hipr_trap() { context->services->trap(context); }

API uint64_t __ockl_dm_alloc(uint64_t bytes) {
  return reinterpret_cast<uint64_t>(context->services->allocate(context, bytes));
}
API void __ockl_dm_dealloc(uint64_t address) {
  context->services->release(context, reinterpret_cast<void*>(address));
}

API uint32_t __hipr_amdgcn_atomic_inc_i32_p0i32(uint32_t* p, uint32_t limit, int32_t, int32_t, bool) {
  uint32_t seen = __atomic_load_n(p, __ATOMIC_RELAXED);
  while (!__atomic_compare_exchange_n(p, &seen, seen >= limit ? 0 : seen + 1, true, __ATOMIC_SEQ_CST,
                                      __ATOMIC_RELAXED)) {
  }
  return seen;
}
API uint32_t __hipr_amdgcn_atomic_dec_i32_p0i32(uint32_t* p, uint32_t limit, int32_t, int32_t, bool) {
  uint32_t seen = __atomic_load_n(p, __ATOMIC_RELAXED);
  while (!__atomic_compare_exchange_n(p, &seen, seen == 0 || seen > limit ? limit : seen - 1, true,
                                      __ATOMIC_SEQ_CST, __ATOMIC_RELAXED)) {
  }
  return seen;
}
template <typename T, typename Combine>
inline T update(T* p, Combine combine) {
  T seen, next;
  __atomic_load(p, &seen, __ATOMIC_RELAXED);
  do {
    next = combine(seen);
  } while (!__atomic_compare_exchange(p, &seen, &next, true, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED));
  return seen;
}
// `where` is global or flat: one address space here.
#define FLOAT_ATOMICS(where)                                                                       \
  API float __hipr_amdgcn_##where##_atomic_fadd_f32_p0f32_f32(float* p, float value) {             \
    return update(p, [=](float seen) { return seen + value; });                                    \
  }                                                                                                \
  API double __hipr_amdgcn_##where##_atomic_fadd_f64_p0f64_f64(double* p, double value) {          \
    return update(p, [=](double seen) { return seen + value; });                                   \
  }                                                                                                \
  API double __hipr_amdgcn_##where##_atomic_fmin_f64_p0f64_f64(double* p, double value) {          \
    return update(p, [=](double seen) { return __builtin_fmin(seen, value); });                    \
  }                                                                                                \
  API double __hipr_amdgcn_##where##_atomic_fmax_f64_p0f64_f64(double* p, double value) {          \
    return update(p, [=](double seen) { return __builtin_fmax(seen, value); });                    \
  }
FLOAT_ATOMICS(global)
FLOAT_ATOMICS(flat)
API void __ockl_atomic_add_noret_f32(float* p, float value) {
  __hipr_amdgcn_global_atomic_fadd_f32_p0f32_f32(p, value);
}
