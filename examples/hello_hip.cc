// SPDX-License-Identifier: Apache-2.0
// Lists the devices, loads a code object that is part of this program, adds two vectors and checks the sum.
// An ordinary C++ compiler and the HIP runtime API are all it needs.
#include "check.h"

#include <vector>

// The code object, as hipcc-cpu --genco --emit-bundle wrote it.
asm(".section .rodata\n.p2align 12\n.globl kernel_image\nkernel_image:\n.incbin \"" KERNEL_FILE
    "\"\n.previous\n");
extern "C" const char kernel_image[];

int main() {
  int devices = 0;
  CHECK(hipGetDeviceCount(&devices));
  std::printf("HIP devices: %d\n", devices);
  for (int device = 0; device < devices; ++device) {
    hipDeviceProp_t properties{};
    CHECK(hipGetDeviceProperties(&properties, device));
    std::printf("  %d: %s (%s), %zu MiB, %d compute units\n", device, properties.name, properties.gcnArchName,
                properties.totalGlobalMem >> 20, properties.multiProcessorCount);
  }

  int n = 1024;
  const std::size_t bytes = static_cast<std::size_t>(n) * sizeof(float);
  std::vector<float> a(n), b(n), c(n);
  for (int i = 0; i < n; ++i) {
    a[i] = static_cast<float>(i);
    b[i] = static_cast<float>(2 * i);
  }
  void *on_a = nullptr, *on_b = nullptr, *on_c = nullptr;
  CHECK(hipMalloc(&on_a, bytes));
  CHECK(hipMalloc(&on_b, bytes));
  CHECK(hipMalloc(&on_c, bytes));
  CHECK(hipMemcpy(on_a, a.data(), bytes, hipMemcpyHostToDevice));
  CHECK(hipMemcpy(on_b, b.data(), bytes, hipMemcpyHostToDevice));

  hipModule_t module = nullptr;
  hipFunction_t vector_add = nullptr;
  CHECK(hipModuleLoadData(&module, kernel_image));
  CHECK(hipModuleGetFunction(&vector_add, module, "vector_add"));
  void* arguments[] = {&on_a, &on_b, &on_c, &n};
  CHECK(hipModuleLaunchKernel(vector_add, (n + 255) / 256, 1, 1, 256, 1, 1, 0, nullptr, arguments, nullptr));
  CHECK(hipDeviceSynchronize());
  CHECK(hipMemcpy(c.data(), on_c, bytes, hipMemcpyDeviceToHost));

  long wrong = 0;
  for (int i = 0; i < n; ++i) wrong += c[i] != static_cast<float>(3 * i);
  CHECK(hipModuleUnload(module));
  CHECK(hipFree(on_a));
  CHECK(hipFree(on_b));
  CHECK(hipFree(on_c));
  return verdict(wrong, n);
}
