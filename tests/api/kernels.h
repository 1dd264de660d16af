// SPDX-License-Identifier: Apache-2.0
// What the API tests and their kernels share. Kernels of the program itself (program.hip) are reached through
// functions, so that the tests are ordinary C++.
#pragma once

#include <hip/hip_runtime_api.h>

#include <cstddef>

namespace tf::api_test {

// An argument with padding inside, and larger than what fits into registers.
struct Mixed {
  int a;
  char b;
  double c;
  int values[10];
};

// --- program.hip -----------------------------------------------------------------------------------------

// Kernels launched with <<<>>>: out[i] = value + i; data[i] *= factor of the program; table copied to out.
void launch_fill(int* out, int value, int n, hipStream_t stream);
void launch_scale(float* data, int n, hipStream_t stream);
void launch_read_table(int* out, hipStream_t stream);
void launch_add_to_counter(int value, hipStream_t stream);
void launch_take_struct(const Mixed& mixed, long long* out);
void launch_square(double* data, int n);  // an instance of a template
// Kernels that fail: by a trap, by an assertion, by a write to where nothing is.
void launch_trap(int* out, hipStream_t stream);
void launch_assert(int* out, hipStream_t stream);
void launch_wild_write(hipStream_t stream);

// Their stubs and variables, as the API takes them.
const void* fill_kernel();
const void* bounded_kernel();  // at most 64 threads a block
const void* shared_kernel();   // 1024 bytes of static shared memory
const void* factor_symbol();   // __constant__ float
const void* counter_symbol();  // __device__ int, 7 at the start
const void* table_symbol();    // __device__ int[16]
const void* block_symbol();    // __device__ unsigned char[kBlockBytes]
const void* inline_symbol();   // inline __constant__ int, 11 at the start
inline constexpr int kConstantBytes =
    sizeof(float) + sizeof(int) + 2 * sizeof(int);  // these, and one of kernels
inline constexpr int kBlockBytes = 100'000;
// Takes a while, then out[0] = value.
void launch_slow_store(int* out, int value, hipStream_t stream);

// --- device_functions.hip: see there and device_functions_test.cc ------------------------------------------

void launch_warp_functions(int* out, unsigned long long* votes, int threads);
void launch_atomic_functions(int* i, unsigned* u, unsigned long long* wide, float* f, double* d, int blocks,
                             int threads);
void launch_math_functions(const float* x, float* single, const double* y, double* wide, int threads);
void launch_dot_products(int* i, unsigned* u, float* f);
void launch_delicate_functions(double* d);
void launch_integers_of(const double* x, long long* out, int count);
void launch_sign_fields(const long long* x, long long* out, int count);  // two results for each
void launch_print_values(int x);

// --- directed_functions.hip: see there -------------------------------------------------------------------

void launch_directed_conversions(double x, long long n, double* out);
inline constexpr int kDirectedResults = 18;  // six operations, rounded down, up and to zero
void launch_directed_arithmetic(const float* x, float* single, const double* y, double* wide, int count);

// --- heap_kernels.hip: see heap_test.cc ------------------------------------------------------------------

void launch_allocate_each(int** kept, std::size_t bytes, int value, int blocks, int threads);
void launch_read_each(int* const* kept, std::size_t bytes, int* out, int blocks, int threads);
void launch_free_each(int** kept, int blocks, int threads);
void launch_allocate_for_all(int* out, int blocks, int threads);
void launch_make_shapes(int* corners, int* ended, int threads);
void launch_free_wrongly(int* memory, hipStream_t stream);  // fails

}  // namespace tf::api_test
