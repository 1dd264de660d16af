// SPDX-License-Identifier: Apache-2.0
// Occupancy: asked once per function and arguments.
// Words: proxy/api/words.h. Included after <hip/hip_runtime_api.h> and parsed by tools/apigen.
#pragma once

extern "C" {

CACHED(0x0530)
hipError_t hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(OUT() int* blocks, IN(function) hipFunction_t function,
                                                              int block_size, size_t shared_bytes);
CACHED(0x0531)
hipError_t hipModuleOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(OUT() int* blocks,
                                                                       IN(function) hipFunction_t function,
                                                                       int block_size, size_t shared_bytes,
                                                                       unsigned int flags);
CACHED(0x0532)
hipError_t hipModuleOccupancyMaxPotentialBlockSize(OUT() int* grid_size, OUT() int* block_size,
                                                   IN(function) hipFunction_t function, size_t shared_bytes,
                                                   int block_size_limit);
CACHED(0x0533)
hipError_t hipModuleOccupancyMaxPotentialBlockSizeWithFlags(OUT() int* grid_size, OUT() int* block_size,
                                                            IN(function) hipFunction_t function,
                                                            size_t shared_bytes, int block_size_limit,
                                                            unsigned int flags);
// By the kernel's stub: the same messages once the stub is known as a function.
ALIAS(hipModuleOccupancyMaxActiveBlocksPerMultiprocessor)
hipError_t hipOccupancyMaxActiveBlocksPerMultiprocessor(OUT() int* blocks, IN(host_function) const void* function,
                                                        int block_size, size_t shared_bytes);
ALIAS(hipModuleOccupancyMaxActiveBlocksPerMultiprocessorWithFlags)
hipError_t hipOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(OUT() int* blocks,
                                                                 IN(host_function) const void* function,
                                                                 int block_size, size_t shared_bytes,
                                                                 unsigned int flags);
ALIAS(hipModuleOccupancyMaxPotentialBlockSize)
hipError_t hipOccupancyMaxPotentialBlockSize(OUT() int* grid_size, OUT() int* block_size,
                                             IN(host_function) const void* function, size_t shared_bytes,
                                             int block_size_limit);

}  // extern "C"
