// SPDX-License-Identifier: Apache-2.0
// Kernels whose argument blocks have gaps, wide alignment and hidden arguments. Needs no headers and no device
// library, so that any clang with AMD's back end compiles it. Never run.
#define KERNEL __attribute__((global))
#define SHARED __attribute__((shared))

struct Small {
  char character;
  short number;
};
struct Wide {
  double numbers[5];
  char tail;
};
struct Empty {};
struct alignas(64) Aligned {
  int number;
};
struct Large {
  int numbers[700];
};
typedef float Float3 __attribute__((ext_vector_type(3)));
typedef int Int4 __attribute__((ext_vector_type(4)));
typedef _Float16 Half2 __attribute__((ext_vector_type(2)));
enum class Colour : unsigned char { red };

extern "C" KERNEL void nothing() {}
extern "C" KERNEL void scalars(char, short, int, long long, float, double, bool, _Float16, Colour, __int128) {}
extern "C" KERNEL void pointers(const int* in, float* __restrict out, void** table, int& n, void (*)(int)) {
  out[n] = static_cast<float>(in[n]) + (table[0] != nullptr ? 1 : 0);
}
extern "C" KERNEL void structs(Small, Wide, Empty, Aligned, char) {}
extern "C" KERNEL void vectors(char, Float3, char, Int4, Half2, Float3*) {}
extern "C" KERNEL void large(Large values, int* out) { *out = values.numbers[*out]; }

// Limits, shared memory whose size the source says and the launch says, private memory.
extern SHARED int of_the_launch[];
extern "C" KERNEL __attribute__((amdgpu_flat_work_group_size(1, 128))) void limits(int* p, int n) {
  SHARED static int of_the_source[100];
  int of_the_thread[64];
  for (int i = 0; i < 64; ++i) of_the_thread[i] = p[i];
  of_the_source[n] = of_the_thread[n & 63];
  of_the_launch[n] = of_the_source[n + 1];
  p[n] = of_the_launch[p[n]];
}

template <typename T, int kStep>
KERNEL void generic(T* p, T value, const T* more) {
  p[kStep] = value + more[0];
}
template KERNEL void generic<double, 1>(double*, double, const double*);
template KERNEL void generic<short, -3>(short*, short, const short*);
