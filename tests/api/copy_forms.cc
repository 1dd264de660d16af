// SPDX-License-Identifier: Apache-2.0
#include "tests/api/copy_forms.h"

#include <cstdlib>

#include "tests/api/kernels.h"

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"  // hipMemcpyToArray and its like

// What HIP's headers only declare for programs built with a default stream for each thread.
extern "C" {
hipError_t hipMemcpy_spt(void* target, const void* source, size_t bytes, hipMemcpyKind kind);
hipError_t hipMemcpyAsync_spt(void* target, const void* source, size_t bytes, hipMemcpyKind kind,
                              hipStream_t stream);
hipError_t hipMemcpy2D_spt(void* target, size_t target_pitch, const void* source, size_t source_pitch,
                           size_t width, size_t height, hipMemcpyKind kind);
hipError_t hipMemcpy3D_spt(const hipMemcpy3DParms* copy);
hipError_t hipMemcpy3DAsync_spt(const hipMemcpy3DParms* copy, hipStream_t stream);
hipError_t hipMemcpy2DToArray_spt(hipArray* target, size_t x, size_t y, const void* source, size_t pitch,
                                  size_t width, size_t height, hipMemcpyKind kind);
hipError_t hipMemcpy2DFromArray_spt(void* target, size_t pitch, hipArray_const_t source, size_t x, size_t y,
                                    size_t width, size_t height, hipMemcpyKind kind);
hipError_t hipMemcpy2DToArrayAsync_spt(hipArray* target, size_t x, size_t y, const void* source, size_t pitch,
                                       size_t width, size_t height, hipMemcpyKind kind, hipStream_t stream);
hipError_t hipMemcpy2DFromArrayAsync_spt(void* target, size_t pitch, hipArray_const_t source, size_t x,
                                         size_t y, size_t width, size_t height, hipMemcpyKind kind,
                                         hipStream_t stream);
hipError_t hipMemcpyToSymbol_spt(const void* symbol, const void* source, size_t bytes, size_t offset,
                                 hipMemcpyKind kind);
hipError_t hipMemcpyFromSymbol_spt(void* target, const void* symbol, size_t bytes, size_t offset,
                                   hipMemcpyKind kind);
}

namespace tf::api_test {
namespace {

constexpr std::size_t kPageBytes = 4096;

hip_Memcpy2D rows_of(const Copy& copy) {
  hip_Memcpy2D rows = {};
  rows.srcMemoryType = copy.up() ? hipMemoryTypeHost : hipMemoryTypeDevice;
  rows.dstMemoryType = copy.up() ? hipMemoryTypeDevice : hipMemoryTypeHost;
  rows.srcHost = copy.source();
  rows.srcDevice = const_cast<void*>(copy.source());  // the type says which of the two counts
  rows.dstHost = rows.dstDevice = copy.target();
  rows.srcPitch = copy.source_pitch();
  rows.dstPitch = copy.target_pitch();
  rows.WidthInBytes = copy.layout.width;
  rows.Height = copy.layout.rows;
  if (copy.array != nullptr) {
    (copy.up() ? rows.dstMemoryType : rows.srcMemoryType) = hipMemoryTypeArray;
    (copy.up() ? rows.dstArray : rows.srcArray) = copy.array;
  }
  return rows;
}

hipMemcpy3DParms box_of(const Copy& copy) {
  hipMemcpy3DParms box = {};
  const std::size_t rows = copy.layout.rows;
  box.srcPtr =
      make_hipPitchedPtr(const_cast<void*>(copy.source()), copy.source_pitch(), copy.layout.width, rows);
  box.dstPtr = make_hipPitchedPtr(copy.target(), copy.target_pitch(), copy.layout.width, rows);
  box.extent = make_hipExtent(copy.layout.width, rows, copy.layout.slices);
  box.kind = copy.kind();
  if (copy.array != nullptr) {
    (copy.up() ? box.dstPtr : box.srcPtr) = {};
    (copy.up() ? box.dstArray : box.srcArray) = copy.array;
    box.extent.width /= kElementBytes;
  }
  return box;
}

HIP_MEMCPY3D driver_box_of(const Copy& copy) {
  HIP_MEMCPY3D box = {};
  box.srcMemoryType = copy.up() ? hipMemoryTypeHost : hipMemoryTypeDevice;
  box.dstMemoryType = copy.up() ? hipMemoryTypeDevice : hipMemoryTypeHost;
  box.srcHost = copy.source();
  box.srcDevice = const_cast<void*>(copy.source());  // the type says which of the two counts
  box.dstHost = box.dstDevice = copy.target();
  box.srcPitch = static_cast<unsigned>(copy.source_pitch());
  box.dstPitch = static_cast<unsigned>(copy.target_pitch());
  box.srcHeight = box.dstHeight = static_cast<unsigned>(copy.layout.rows);
  box.WidthInBytes = static_cast<unsigned>(copy.layout.width);
  box.Height = static_cast<unsigned>(copy.layout.rows);
  box.Depth = static_cast<unsigned>(copy.layout.slices);
  if (copy.array != nullptr) {
    (copy.up() ? box.dstMemoryType : box.srcMemoryType) = hipMemoryTypeArray;
    (copy.up() ? box.dstArray : box.srcArray) = copy.array;
  }
  return box;
}

std::size_t width(const Copy& copy) { return copy.layout.width; }

using S = CopyForm::Stream;
using G = Geometry;
using E = CopyForm::End;

constexpr CopyForm kForms[] = {
    {"hipMemcpy", G::kLine, S::kNull, true, E::kMemory,
     [](const Copy& c) { return hipMemcpy(c.target(), c.source(), width(c), c.kind()); }},
    {"hipMemcpy, default", G::kLine, S::kNull, true, E::kMemory,
     [](const Copy& c) { return hipMemcpy(c.target(), c.source(), width(c), hipMemcpyDefault); }},
    {"hipMemcpyHtoD and DtoH", G::kLine, S::kNull, true, E::kMemory,
     [](const Copy& c) {
       return c.up() ? hipMemcpyHtoD(c.device, c.host, width(c)) : hipMemcpyDtoH(c.host, c.device, width(c));
     }},
    {"hipMemcpyWithStream", G::kLine, S::kGiven, true, E::kMemory,
     [](const Copy& c) { return hipMemcpyWithStream(c.target(), c.source(), width(c), c.kind(), c.stream); }},
    {"hipMemcpyAsync", G::kLine, S::kGiven, false, E::kMemory,
     [](const Copy& c) { return hipMemcpyAsync(c.target(), c.source(), width(c), c.kind(), c.stream); }},
    {"hipMemcpyAsync, default", G::kLine, S::kGiven, false, E::kMemory,
     [](const Copy& c) {
       return hipMemcpyAsync(c.target(), c.source(), width(c), hipMemcpyDefault, c.stream);
     }},
    {"hipMemcpyHtoDAsync and DtoHAsync", G::kLine, S::kGiven, false, E::kMemory,
     [](const Copy& c) {
       return c.up() ? hipMemcpyHtoDAsync(c.device, c.host, width(c), c.stream)
                     : hipMemcpyDtoHAsync(c.host, c.device, width(c), c.stream);
     }},
    {"hipMemcpy2D", G::kRows, S::kNull, true, E::kMemory,
     [](const Copy& c) {
       return hipMemcpy2D(c.target(), c.target_pitch(), c.source(), c.source_pitch(), width(c), c.layout.rows,
                          c.kind());
     }},
    {"hipMemcpy2DAsync", G::kRows, S::kGiven, false, E::kMemory,
     [](const Copy& c) {
       return hipMemcpy2DAsync(c.target(), c.target_pitch(), c.source(), c.source_pitch(), width(c),
                               c.layout.rows, c.kind(), c.stream);
     }},
    {"hipMemcpyParam2D", G::kRows, S::kNull, true, E::kMemory,
     [](const Copy& c) {
       const hip_Memcpy2D rows = rows_of(c);
       return hipMemcpyParam2D(&rows);
     }},
    {"hipMemcpyParam2DAsync", G::kRows, S::kGiven, false, E::kMemory,
     [](const Copy& c) {
       const hip_Memcpy2D rows = rows_of(c);
       return hipMemcpyParam2DAsync(&rows, c.stream);
     }},
    {"hipDrvMemcpy2DUnaligned", G::kRows, S::kNull, true, E::kMemory,
     [](const Copy& c) {
       const hip_Memcpy2D rows = rows_of(c);
       return hipDrvMemcpy2DUnaligned(&rows);
     }},
    {"hipMemcpy3D", G::kBox, S::kNull, true, E::kMemory,
     [](const Copy& c) {
       const hipMemcpy3DParms box = box_of(c);
       return hipMemcpy3D(&box);
     }},
    {"hipMemcpy3DAsync", G::kBox, S::kGiven, false, E::kMemory,
     [](const Copy& c) {
       const hipMemcpy3DParms box = box_of(c);
       return hipMemcpy3DAsync(&box, c.stream);
     }},
    {"hipDrvMemcpy3D", G::kBox, S::kNull, true, E::kMemory,
     [](const Copy& c) {
       const HIP_MEMCPY3D box = driver_box_of(c);
       return hipDrvMemcpy3D(&box);
     }},
    {"hipDrvMemcpy3DAsync", G::kBox, S::kGiven, false, E::kMemory,
     [](const Copy& c) {
       const HIP_MEMCPY3D box = driver_box_of(c);
       return hipDrvMemcpy3DAsync(&box, c.stream);
     }},
    {"hipMemcpyToSymbol and FromSymbol", G::kLine, S::kNull, true, E::kSymbol,
     [](const Copy& c) {
       return c.up() ? hipMemcpyToSymbol(block_symbol(), c.host, width(c), 0, c.kind())
                     : hipMemcpyFromSymbol(c.host, block_symbol(), width(c), 0, c.kind());
     }},
    {"hipMemcpyToSymbolAsync and FromSymbolAsync", G::kLine, S::kGiven, false, E::kSymbol,
     [](const Copy& c) {
       return c.up() ? hipMemcpyToSymbolAsync(block_symbol(), c.host, width(c), 0, c.kind(), c.stream)
                     : hipMemcpyFromSymbolAsync(c.host, block_symbol(), width(c), 0, c.kind(), c.stream);
     }},
    {"hipMemcpy_spt", G::kLine, S::kPerThread, true, E::kMemory,
     [](const Copy& c) { return hipMemcpy_spt(c.target(), c.source(), width(c), c.kind()); }},
    {"hipMemcpyAsync_spt", G::kLine, S::kPerThread, false, E::kMemory,
     [](const Copy& c) { return hipMemcpyAsync_spt(c.target(), c.source(), width(c), c.kind(), nullptr); }},
    {"hipMemcpy2D_spt", G::kRows, S::kPerThread, true, E::kMemory,
     [](const Copy& c) {
       return hipMemcpy2D_spt(c.target(), c.target_pitch(), c.source(), c.source_pitch(), width(c),
                              c.layout.rows, c.kind());
     }},
    {"hipMemcpy3D_spt", G::kBox, S::kPerThread, true, E::kMemory,
     [](const Copy& c) {
       const hipMemcpy3DParms box = box_of(c);
       return hipMemcpy3D_spt(&box);
     }},
    {"hipMemcpyToSymbol_spt and FromSymbol_spt", G::kLine, S::kPerThread, true, E::kSymbol,
     [](const Copy& c) {
       return c.up() ? hipMemcpyToSymbol_spt(block_symbol(), c.host, width(c), 0, c.kind())
                     : hipMemcpyFromSymbol_spt(c.host, block_symbol(), width(c), 0, c.kind());
     }},
    {"hipMemcpy3DAsync_spt", G::kBox, S::kPerThread, false, E::kMemory,
     [](const Copy& c) {
       const hipMemcpy3DParms box = box_of(c);
       return hipMemcpy3DAsync_spt(&box, nullptr);
     }},
    {"hipMemcpy2DToArray and FromArray", G::kRows, S::kNull, true, E::kArray,
     [](const Copy& c) {
       const std::size_t rows = c.layout.rows;
       return c.up()
                  ? hipMemcpy2DToArray(c.array, 0, 0, c.host, c.layout.host_pitch, width(c), rows, c.kind())
                  : hipMemcpy2DFromArray(c.host, c.layout.host_pitch, c.array, 0, 0, width(c), rows,
                                         c.kind());
     }},
    {"hipMemcpy2DToArrayAsync and FromArrayAsync", G::kRows, S::kGiven, false, E::kArray,
     [](const Copy& c) {
       const std::size_t rows = c.layout.rows;
       return c.up() ? hipMemcpy2DToArrayAsync(c.array, 0, 0, c.host, c.layout.host_pitch, width(c), rows,
                                               c.kind(), c.stream)
                     : hipMemcpy2DFromArrayAsync(c.host, c.layout.host_pitch, c.array, 0, 0, width(c), rows,
                                                 c.kind(), c.stream);
     }},
    {"hipMemcpy2DToArray_spt and FromArray_spt", G::kRows, S::kPerThread, true, E::kArray,
     [](const Copy& c) {
       const std::size_t rows = c.layout.rows;
       return c.up() ? hipMemcpy2DToArray_spt(c.array, 0, 0, c.host, c.layout.host_pitch, width(c), rows,
                                              c.kind())
                     : hipMemcpy2DFromArray_spt(c.host, c.layout.host_pitch, c.array, 0, 0, width(c), rows,
                                                c.kind());
     }},
    {"hipMemcpy2DToArrayAsync_spt and FromArrayAsync_spt", G::kRows, S::kPerThread, false, E::kArray,
     [](const Copy& c) {
       const std::size_t rows = c.layout.rows;
       return c.up() ? hipMemcpy2DToArrayAsync_spt(c.array, 0, 0, c.host, c.layout.host_pitch, width(c), rows,
                                                   c.kind(), nullptr)
                     : hipMemcpy2DFromArrayAsync_spt(c.host, c.layout.host_pitch, c.array, 0, 0, width(c),
                                                     rows, c.kind(), nullptr);
     }},
    {"hipMemcpyToArray and FromArray", G::kLine, S::kNull, true, E::kArray,
     [](const Copy& c) {
       return c.up() ? hipMemcpyToArray(c.array, 0, 0, c.host, width(c), c.kind())
                     : hipMemcpyFromArray(c.host, c.array, 0, 0, width(c), c.kind());
     }},
    {"hipMemcpyHtoA and AtoH", G::kLine, S::kNull, true, E::kArray,
     [](const Copy& c) {
       return c.up() ? hipMemcpyHtoA(c.array, 0, c.host, width(c))
                     : hipMemcpyAtoH(c.host, c.array, 0, width(c));
     }},
    {"hipMemcpyParam2D, array", G::kRows, S::kNull, true, E::kArray,
     [](const Copy& c) {
       const hip_Memcpy2D rows = rows_of(c);
       return hipMemcpyParam2D(&rows);
     }},
    {"hipMemcpyParam2DAsync, array", G::kRows, S::kGiven, false, E::kArray,
     [](const Copy& c) {
       const hip_Memcpy2D rows = rows_of(c);
       return hipMemcpyParam2DAsync(&rows, c.stream);
     }},
    {"hipMemcpy3D, array", G::kBox, S::kNull, true, E::kArray,
     [](const Copy& c) {
       const hipMemcpy3DParms box = box_of(c);
       return hipMemcpy3D(&box);
     }},
    {"hipMemcpy3DAsync, array", G::kBox, S::kGiven, false, E::kArray,
     [](const Copy& c) {
       const hipMemcpy3DParms box = box_of(c);
       return hipMemcpy3DAsync(&box, c.stream);
     }},
    {"hipDrvMemcpy3D, array", G::kBox, S::kNull, true, E::kArray,
     [](const Copy& c) {
       const HIP_MEMCPY3D box = driver_box_of(c);
       return hipDrvMemcpy3D(&box);
     }},
    {"hipDrvMemcpy3DAsync, array", G::kBox, S::kGiven, false, E::kArray,
     [](const Copy& c) {
       const HIP_MEMCPY3D box = driver_box_of(c);
       return hipDrvMemcpy3DAsync(&box, c.stream);
     }},
};

}  // namespace

std::span<const CopyForm> copy_forms() { return kForms; }

Layout layout_of(Geometry geometry, std::size_t bytes, bool array) {
  const std::size_t rows = geometry == Geometry::kLine ? 1 : 10;
  const std::size_t slices = geometry == Geometry::kBox ? 3 : 1;
  std::size_t width = bytes / rows / slices;
  if (array) width = width / kElementBytes * kElementBytes;
  if (geometry == Geometry::kLine) return {width, 1, 1, width, width};
  return {width, rows, slices, width + 24, width + (array ? 0 : 8)};
}

const char* name_of(Memory memory) {
  switch (memory) {
    case Memory::kPageable: return "pageable";
    case Memory::kPinned: return "pinned";
    case Memory::kRegistered: return "registered";
    case Memory::kManaged: return "managed";
  }
  return "unknown";
}

HostBlock::HostBlock(Memory memory, std::size_t bytes) : memory_(memory) {
  const std::size_t pages = (bytes + kPageBytes - 1) / kPageBytes * kPageBytes;
  void* got = nullptr;
  switch (memory) {
    case Memory::kPinned: EXPECT_EQ(hipHostMalloc(&got, bytes, hipHostMallocDefault), hipSuccess); break;
    case Memory::kManaged: EXPECT_EQ(hipMallocManaged(&got, bytes, hipMemAttachGlobal), hipSuccess); break;
    case Memory::kRegistered:
      got = std::aligned_alloc(kPageBytes, pages);
      EXPECT_EQ(hipHostRegister(got, pages, hipHostRegisterDefault), hipSuccess);
      break;
    case Memory::kPageable: got = std::aligned_alloc(kPageBytes, pages); break;
  }
  bytes_ = static_cast<std::byte*>(got);
}

HostBlock::~HostBlock() {
  switch (memory_) {
    case Memory::kPinned: EXPECT_EQ(hipHostFree(bytes_), hipSuccess); return;
    case Memory::kManaged: EXPECT_EQ(hipFree(bytes_), hipSuccess); return;
    case Memory::kRegistered: EXPECT_EQ(hipHostUnregister(bytes_), hipSuccess); break;
    case Memory::kPageable: break;
  }
  std::free(bytes_);
}

}  // namespace tf::api_test
