// SPDX-License-Identifier: Apache-2.0
#include "tests/api/copy_forms.h"

#include <cstdlib>

#include "tests/api/kernels.h"

// What HIP's headers only declare for programs built with a default stream for each thread.
extern "C" {
hipError_t hipMemcpy_spt(void* target, const void* source, size_t bytes, hipMemcpyKind kind);
hipError_t hipMemcpyAsync_spt(void* target, const void* source, size_t bytes, hipMemcpyKind kind,
                              hipStream_t stream);
hipError_t hipMemcpy2D_spt(void* target, size_t target_pitch, const void* source, size_t source_pitch,
                           size_t width, size_t height, hipMemcpyKind kind);
hipError_t hipMemcpy3D_spt(const hipMemcpy3DParms* copy);
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
  return box;
}

std::size_t width(const Copy& copy) { return copy.layout.width; }

using S = CopyForm::Stream;
using G = Geometry;

constexpr CopyForm kForms[] = {
    {"hipMemcpy", G::kLine, S::kNull, true, false,
     [](const Copy& c) { return hipMemcpy(c.target(), c.source(), width(c), c.kind()); }},
    {"hipMemcpy, default", G::kLine, S::kNull, true, false,
     [](const Copy& c) { return hipMemcpy(c.target(), c.source(), width(c), hipMemcpyDefault); }},
    {"hipMemcpyHtoD and DtoH", G::kLine, S::kNull, true, false,
     [](const Copy& c) {
       return c.up() ? hipMemcpyHtoD(c.device, c.host, width(c)) : hipMemcpyDtoH(c.host, c.device, width(c));
     }},
    {"hipMemcpyWithStream", G::kLine, S::kGiven, true, false,
     [](const Copy& c) { return hipMemcpyWithStream(c.target(), c.source(), width(c), c.kind(), c.stream); }},
    {"hipMemcpyAsync", G::kLine, S::kGiven, false, false,
     [](const Copy& c) { return hipMemcpyAsync(c.target(), c.source(), width(c), c.kind(), c.stream); }},
    {"hipMemcpyAsync, default", G::kLine, S::kGiven, false, false,
     [](const Copy& c) {
       return hipMemcpyAsync(c.target(), c.source(), width(c), hipMemcpyDefault, c.stream);
     }},
    {"hipMemcpyHtoDAsync and DtoHAsync", G::kLine, S::kGiven, false, false,
     [](const Copy& c) {
       return c.up() ? hipMemcpyHtoDAsync(c.device, c.host, width(c), c.stream)
                     : hipMemcpyDtoHAsync(c.host, c.device, width(c), c.stream);
     }},
    {"hipMemcpy2D", G::kRows, S::kNull, true, false,
     [](const Copy& c) {
       return hipMemcpy2D(c.target(), c.target_pitch(), c.source(), c.source_pitch(), width(c), c.layout.rows,
                          c.kind());
     }},
    {"hipMemcpy2DAsync", G::kRows, S::kGiven, false, false,
     [](const Copy& c) {
       return hipMemcpy2DAsync(c.target(), c.target_pitch(), c.source(), c.source_pitch(), width(c),
                               c.layout.rows, c.kind(), c.stream);
     }},
    {"hipMemcpyParam2D", G::kRows, S::kNull, true, false,
     [](const Copy& c) {
       const hip_Memcpy2D rows = rows_of(c);
       return hipMemcpyParam2D(&rows);
     }},
    {"hipMemcpyParam2DAsync", G::kRows, S::kGiven, false, false,
     [](const Copy& c) {
       const hip_Memcpy2D rows = rows_of(c);
       return hipMemcpyParam2DAsync(&rows, c.stream);
     }},
    {"hipDrvMemcpy2DUnaligned", G::kRows, S::kNull, true, false,
     [](const Copy& c) {
       const hip_Memcpy2D rows = rows_of(c);
       return hipDrvMemcpy2DUnaligned(&rows);
     }},
    {"hipMemcpy3D", G::kBox, S::kNull, true, false,
     [](const Copy& c) {
       const hipMemcpy3DParms box = box_of(c);
       return hipMemcpy3D(&box);
     }},
    {"hipMemcpy3DAsync", G::kBox, S::kGiven, false, false,
     [](const Copy& c) {
       const hipMemcpy3DParms box = box_of(c);
       return hipMemcpy3DAsync(&box, c.stream);
     }},
    {"hipDrvMemcpy3D", G::kBox, S::kNull, true, false,
     [](const Copy& c) {
       const HIP_MEMCPY3D box = driver_box_of(c);
       return hipDrvMemcpy3D(&box);
     }},
    {"hipDrvMemcpy3DAsync", G::kBox, S::kGiven, false, false,
     [](const Copy& c) {
       const HIP_MEMCPY3D box = driver_box_of(c);
       return hipDrvMemcpy3DAsync(&box, c.stream);
     }},
    {"hipMemcpyToSymbol and FromSymbol", G::kLine, S::kNull, true, true,
     [](const Copy& c) {
       return c.up() ? hipMemcpyToSymbol(block_symbol(), c.host, width(c), 0, c.kind())
                     : hipMemcpyFromSymbol(c.host, block_symbol(), width(c), 0, c.kind());
     }},
    {"hipMemcpyToSymbolAsync and FromSymbolAsync", G::kLine, S::kGiven, false, true,
     [](const Copy& c) {
       return c.up() ? hipMemcpyToSymbolAsync(block_symbol(), c.host, width(c), 0, c.kind(), c.stream)
                     : hipMemcpyFromSymbolAsync(c.host, block_symbol(), width(c), 0, c.kind(), c.stream);
     }},
    {"hipMemcpy_spt", G::kLine, S::kPerThread, true, false,
     [](const Copy& c) { return hipMemcpy_spt(c.target(), c.source(), width(c), c.kind()); }},
    {"hipMemcpyAsync_spt", G::kLine, S::kPerThread, false, false,
     [](const Copy& c) { return hipMemcpyAsync_spt(c.target(), c.source(), width(c), c.kind(), nullptr); }},
    {"hipMemcpy2D_spt", G::kRows, S::kPerThread, true, false,
     [](const Copy& c) {
       return hipMemcpy2D_spt(c.target(), c.target_pitch(), c.source(), c.source_pitch(), width(c),
                              c.layout.rows, c.kind());
     }},
    {"hipMemcpy3D_spt", G::kBox, S::kPerThread, true, false,
     [](const Copy& c) {
       const hipMemcpy3DParms box = box_of(c);
       return hipMemcpy3D_spt(&box);
     }},
    {"hipMemcpyToSymbol_spt and FromSymbol_spt", G::kLine, S::kPerThread, true, true,
     [](const Copy& c) {
       return c.up() ? hipMemcpyToSymbol_spt(block_symbol(), c.host, width(c), 0, c.kind())
                     : hipMemcpyFromSymbol_spt(c.host, block_symbol(), width(c), 0, c.kind());
     }},
};

}  // namespace

std::span<const CopyForm> copy_forms() { return kForms; }

Layout layout_of(Geometry geometry, std::size_t bytes) {
  if (geometry == Geometry::kLine) return {bytes, 1, 1, bytes, bytes};
  const std::size_t rows = 10;
  const std::size_t slices = geometry == Geometry::kBox ? 3 : 1;
  const std::size_t width = bytes / rows / slices;
  return {width, rows, slices, width + 24, width + 8};
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
