// SPDX-License-Identifier: Apache-2.0
// Descriptions of copies and fills, lists of pointers and lengths.
#include "tests/differential/case.h"

namespace tf::differential {
namespace {

constexpr std::size_t kPitch = 64, kRows = 4;

// hipMemoryType: numbered from 1 since 6.0.
int device_type(const Case& c) { return c.api.major() >= 6 ? 2 : 1; }

// HIP_MEMCPY3D: with 32-bit lengths in HIP 5, with std::size_t since 6.0.
template <typename Length>
struct DriverCopyEnd {
  Length x, y, z, lod;
  int type;
  const void* host;
  void* device;
  void* array;
  Length pitch, height;
};
template <typename Length>
struct DriverCopy3D {
  DriverCopyEnd<Length> source, target;
  Length width, height, depth;
};
static_assert(sizeof(DriverCopy3D<unsigned>) == 128 && sizeof(DriverCopy3D<std::size_t>) == 184);

template <typename Length>
Value driver_copy_3d_of(Case& c) {
  auto* const copy = c.keep<DriverCopy3D<Length>>();
  const int type = device_type(c);
  copy->source = {0, 0, 0, 0, type, nullptr, c.handle<void*>("device_other"), nullptr, kPitch, kRows};
  copy->target = {0, 0, 0, 0, type, nullptr, c.handle<void*>("device"), nullptr, kPitch, kRows};
  copy->width = 16;
  copy->height = kRows;
  copy->depth = 1;
  return pointer(copy);
}
Value driver_copy_3d(Case& c) {
  return c.api.major() >= 6 ? driver_copy_3d_of<std::size_t>(c) : driver_copy_3d_of<unsigned>(c);
}
Value driver_copy_2d(Case& c) {
  auto* const copy = c.keep<hip_Memcpy2D>();
  const int type = device_type(c);
  std::memcpy(&copy->srcMemoryType, &type, sizeof type);
  std::memcpy(&copy->dstMemoryType, &type, sizeof type);
  copy->srcDevice = c.handle<void*>("device_other");
  copy->dstDevice = c.handle<void*>("device");
  copy->srcPitch = copy->dstPitch = kPitch;
  copy->WidthInBytes = 16;
  copy->Height = kRows;
  return pointer(copy);
}

hipMemcpy3DParms* copy_3d_of(Case& c, const char* target, const char* source, hipMemcpyKind kind) {
  auto* const copy = c.keep<hipMemcpy3DParms>();
  copy->srcPtr = {c.handle<void*>(source), kPitch, kPitch, kRows};
  copy->dstPtr = {c.handle<void*>(target), kPitch, kPitch, kRows};
  copy->extent = {16, kRows, 1};
  copy->kind = kind;
  return copy;
}
Value copy_3d_peer(Case& c) {
  auto* const copy = c.keep<hipMemcpy3DPeerParms>();
  copy->srcPtr = {c.handle<void*>("device_other"), kPitch, kPitch, kRows};
  copy->dstPtr = {c.handle<void*>("device"), kPitch, kPitch, kRows};
  copy->extent = {16, kRows, 1};
  return pointer(copy);
}
hipMemcpy3DOperand operand(Case& c, const char* memory) {
  hipMemcpy3DOperand operand{};
  operand.type = hipMemcpyOperandTypePointer;
  operand.op.ptr = {c.handle<void*>(memory), kPitch, kRows, {hipMemLocationTypeDevice, 0}};
  return operand;
}
Value copy_3d_batch(Case& c) {
  auto* const operation = c.keep<hipMemcpy3DBatchOp>();
  operation->src = operand(c, "device_other");
  operation->dst = operand(c, "device");
  operation->extent = {16, kRows, 1};
  operation->srcAccessOrder = hipMemcpySrcAccessOrderStream;
  return pointer(operation);
}
Value copy_attributes(Case& c) {
  auto* const attributes = c.keep<hipMemcpyAttributes>();
  attributes->srcAccessOrder = hipMemcpySrcAccessOrderStream;
  return pointer(attributes);
}

// HIP_MEMSET_NODE_PARAMS until 6.4, hipMemsetParams since 7.0.
Value driver_fill(Case& c) {
  if (c.api.major() >= 7) return c.at("fill");
  struct Fill {
    void* target;
    std::size_t pitch;
    unsigned value, element_bytes;
    std::size_t width, height;
  };
  auto* const fill = c.keep<Fill>();
  *fill = {c.handle<void*>("device"), 0, 7, 4, 16, 1};
  return pointer(fill);
}

template <typename Element>
Value list_of(Case& c, Element element) {
  auto* const list = c.keep<Element>();
  *list = element;
  return pointer(list);
}

}  // namespace

void add_copies(Fixtures& all) {
  all["copy_3d_host"] = [](Case& c) {
    return pointer(copy_3d_of(c, "device", "host", hipMemcpyHostToDevice));
  };
  all["copy_3d_freed"] = [](Case& c) {
    return pointer(copy_3d_of(c, "device", "device_freed", hipMemcpyDeviceToDevice));
  };
  all["copy_3d_two"] = [](Case& c) {  // a pointer and an array at one end
    hipMemcpy3DParms* const copy = copy_3d_of(c, "device", "device_other", hipMemcpyDeviceToDevice);
    copy->srcArray = c.handle<hipArray*>("array");
    return pointer(copy);
  };
  all["copy_3d_peer"] = copy_3d_peer;
  all["copy_3d_batch"] = copy_3d_batch;
  all["copy_attributes"] = copy_attributes;
  all["driver_copy_2d"] = driver_copy_2d;
  all["driver_copy_3d"] = driver_copy_3d;
  all["driver_fill"] = driver_fill;
  all["list_of_device"] = [](Case& c) { return list_of(c, c.handle<void*>("device")); };
  all["list_of_other"] = [](Case& c) { return list_of(c, c.handle<void*>("device_other")); };
  all["list_of_managed"] = [](Case& c) { return list_of(c, c.handle<void*>("managed")); };
  all["list_of_out"] = [](Case& c) { return list_of(c, c.handle<void*>("out")); };
  all["list_of_sizes"] = [](Case& c) { return list_of(c, std::size_t{4}); };
  all["list_of_zeros"] = [](Case& c) { return list_of(c, std::size_t{0}); };
  all["list_of_attributes"] = [](Case& c) { return list_of(c, 2); };
  all["list_of_odd"] = [](Case& c) { return list_of(c, 99); };
}

}  // namespace tf::differential
