// SPDX-License-Identifier: Apache-2.0
// The tests' kernels, compiled by clang without HIP's headers.
#include "tests/amd/isa/kernels.h"

#define TF_KERNEL extern "C" __attribute__((global))
#define TF_SHARED __attribute__((shared))
#define TF_DEVICE __attribute__((device))

TF_DEVICE static inline unsigned item() {
  return __builtin_amdgcn_workgroup_id_x() * __builtin_amdgcn_workgroup_size_x() + __builtin_amdgcn_workitem_id_x();
}

TF_KERNEL void saxpy(float a, const float* x, float* y, unsigned n) {
  const unsigned i = item();
  if (i < n) y[i] = a * x[i] + y[i];
}

TF_KERNEL void records(Record* out, unsigned n) {
  const unsigned i = item();
  if (i >= n) return;
  floats_of(i, &out[i]);
  doubles_of(i, &out[i]);
  integers_of(i, &out[i]);
}

TF_KERNEL void generate(unsigned* out, unsigned count) { out[item()] = xorwow(item(), count); }

TF_KERNEL void reduce(const unsigned* in, unsigned* out, unsigned* total) {
  TF_SHARED static unsigned part[256];
  const unsigned t = __builtin_amdgcn_workitem_id_x();
  part[t] = in[item()];
  __builtin_amdgcn_s_barrier();
  for (unsigned half = 128; half > 0; half /= 2) {
    if (t < half) part[t] += part[t + half];
    __builtin_amdgcn_s_barrier();
  }
  if (t != 0) return;
  out[__builtin_amdgcn_workgroup_id_x()] = part[0];
  __atomic_fetch_add(total, part[0], __ATOMIC_RELAXED);
}

// The first wave writes what the others have yet to read, but has more to do before it does: on a device it is late.
TF_KERNEL void overtake(unsigned* out, unsigned steps) {
  TF_SHARED static volatile unsigned word;
  const unsigned t = __builtin_amdgcn_workitem_id_x();
  if (t == 0) word = 1;
  __builtin_amdgcn_s_barrier();
  out[t] = word;
  if (t >= 64) return;
  unsigned at = t;
  for (unsigned k = 0; k < steps; ++k) at = mix_bits(at);
  word = at | 2;
}

// Private memory that no register can hold, and a call.
__attribute__((device, noinline)) unsigned pick(const unsigned* table, unsigned i) { return table[i & 31] * 3 + i; }
TF_KERNEL void scratch(unsigned* out) {
  unsigned table[32];
  const unsigned n = item();
  for (unsigned k = 0; k < 32; ++k) table[k] = mix_bits(n + k);
  unsigned sum = 0;
  for (unsigned k = 0; k < 64; ++k) sum += pick(table, table[k & 31] + k);
  out[n] = sum;
}

TF_KERNEL void groups(unsigned* out) {
  const unsigned x = __builtin_amdgcn_workitem_id_x(), y = __builtin_amdgcn_workitem_id_y();
  const unsigned z = __builtin_amdgcn_workitem_id_z(), gy = __builtin_amdgcn_workgroup_id_y();
  const unsigned at = ((gy * 2 + z) * 3 + y) * 5 + x;
  out[at] = x | y << 8 | z << 16 | gy << 24;
}

TF_KERNEL void wander(unsigned* out, const unsigned* table, unsigned n) {
  unsigned at = item() % n;
  unsigned steps = 0;
  while (table[at] != 0 && steps < 1000) {
    at = table[at] % n;
    ++steps;
  }
  out[item()] = steps;
}

// A work-group waits for the one that comes after it.
TF_KERNEL void handshake(unsigned* flags) {
  const unsigned g = __builtin_amdgcn_workgroup_id_x();
  if (__builtin_amdgcn_workitem_id_x() != 0) return;
  if (g == 0) {
    while (__atomic_load_n(&flags[1], __ATOMIC_ACQUIRE) == 0) __builtin_amdgcn_s_sleep(1);
    __atomic_store_n(&flags[0], 7, __ATOMIC_RELEASE);
  } else {
    __atomic_store_n(&flags[1], 5, __ATOMIC_RELEASE);
  }
}

TF_KERNEL void fault(unsigned* nowhere) { nowhere[item()] = 1; }
TF_KERNEL void stop() { __builtin_trap(); }
