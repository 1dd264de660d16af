// SPDX-License-Identifier: Apache-2.0
// Batches of copies, and copies of boxes between devices (HIP 7).
#include "hipcore/composed/composed.h"

namespace tf::composed {
namespace {

constexpr std::size_t kNoneFailed = ~std::size_t{0};

void set_failed(std::size_t* fail_index, std::size_t index) {
  if (fail_index != nullptr) *fail_index = index;
}

bool is_known(hipMemcpySrcAccessOrder order) {
  return order >= hipMemcpySrcAccessOrderStream && order <= hipMemcpySrcAccessOrderAny;
}

// The first copy that each entry of `attributes` is for: rising, from 0 on.
bool are_sane(const hipMemcpyAttributes* attributes, const std::size_t* first, std::size_t attribute_count,
              std::size_t count) {
  if (attribute_count == 0) return attributes == nullptr && first == nullptr;
  if (attributes == nullptr || first == nullptr || attribute_count > count || first[0] != 0) return false;
  for (std::size_t i = 0; i < attribute_count; ++i)
    if (!is_known(attributes[i].srcAccessOrder) || first[i] >= count || (i > 0 && first[i] <= first[i - 1]))
      return false;
  return true;
}

// One end of a copy of the batch, as hipMemcpy3DParms has it. Rows and slices of 0 are packed.
bool read_operand(const hipMemcpy3DOperand& operand, const hipExtent& extent, hipPitchedPtr& pointer,
                  hipArray_t& array, hipPos& position) {
  if (operand.type == hipMemcpyOperandTypeArray) {
    array = operand.op.array.array;
    position = {operand.op.array.offset.x, operand.op.array.offset.y, operand.op.array.offset.z};
    return array != nullptr;
  }
  if (operand.type != hipMemcpyOperandTypePointer || operand.op.ptr.ptr == nullptr) return false;
  const std::size_t pitch = operand.op.ptr.rowLength != 0 ? operand.op.ptr.rowLength : extent.width;
  const std::size_t rows = operand.op.ptr.layerHeight != 0 ? operand.op.ptr.layerHeight : extent.height;
  pointer = {operand.op.ptr.ptr, pitch, pitch, rows};
  return true;
}

hipError_t copy_one(const hipMemcpy3DBatchOp& op, hipStream_t stream) {
  hipMemcpy3DParms copy{};
  copy.extent = op.extent;
  copy.kind = hipMemcpyDefault;
  if (!is_known(op.srcAccessOrder) ||
      !read_operand(op.src, op.extent, copy.srcPtr, copy.srcArray, copy.srcPos) ||
      !read_operand(op.dst, op.extent, copy.dstPtr, copy.dstArray, copy.dstPos))
    return refuse(hipErrorInvalidValue);
  return hipMemcpy3DAsync(&copy, stream);
}

hipMemcpy3DParms between_devices(const hipMemcpy3DPeerParms& peer) {
  hipMemcpy3DParms copy{};
  copy.srcArray = peer.srcArray;
  copy.srcPos = peer.srcPos;
  copy.srcPtr = peer.srcPtr;
  copy.dstArray = peer.dstArray;
  copy.dstPos = peer.dstPos;
  copy.dstPtr = peer.dstPtr;
  copy.extent = peer.extent;
  copy.kind = hipMemcpyDeviceToDevice;
  return copy;
}

bool devices_exist(const hipMemcpy3DPeerParms& peer) {
  int count = 0;
  if (hipGetDeviceCount(&count) != hipSuccess) return false;
  return peer.srcDevice >= 0 && peer.srcDevice < count && peer.dstDevice >= 0 && peer.dstDevice < count;
}

}  // namespace
}  // namespace tf::composed

using namespace tf::composed;  // NOLINT: these are C functions

// The copies are in stream order one after another, which the batch allows. A source that may be read only
// during the call is what hipMemcpyAsync of pageable memory reads at once; pinned memory is read in stream
// order.
TF_COMPOSED hipError_t hipMemcpyBatchAsync(void** targets, void** sources, size_t* sizes, size_t count,
                                           hipMemcpyAttributes* attributes, size_t* first,
                                           size_t attribute_count, size_t* fail_index, hipStream_t stream) {
  set_failed(fail_index, kNoneFailed);
  if (targets == nullptr || sources == nullptr || sizes == nullptr || count == 0)
    return refuse(hipErrorInvalidValue);
  if (!are_sane(attributes, first, attribute_count, count)) return refuse(hipErrorInvalidValue);
  for (std::size_t i = 0; i < count; ++i) {
    const bool empty = targets[i] == nullptr || sources[i] == nullptr || sizes[i] == 0;
    const hipError_t error = empty
                                 ? refuse(hipErrorInvalidValue)
                                 : hipMemcpyAsync(targets[i], sources[i], sizes[i], hipMemcpyDefault, stream);
    if (error == hipSuccess) continue;
    set_failed(fail_index, i);
    return error;
  }
  return hipSuccess;
}

TF_COMPOSED hipError_t hipMemcpy3DBatchAsync(size_t count, hipMemcpy3DBatchOp* operations, size_t* fail_index,
                                             unsigned long long flags, hipStream_t stream) {
  set_failed(fail_index, kNoneFailed);
  if (count == 0 || operations == nullptr || flags != 0) return refuse(hipErrorInvalidValue);
  for (std::size_t i = 0; i < count; ++i) {
    const hipError_t error = copy_one(operations[i], stream);
    if (error == hipSuccess) continue;
    set_failed(fail_index, i);
    return error;
  }
  return hipSuccess;
}

TF_COMPOSED hipError_t hipMemcpy3DPeer(hipMemcpy3DPeerParms* peer) {
  if (peer == nullptr) return refuse(hipErrorInvalidValue);
  if (!devices_exist(*peer)) return refuse(hipErrorInvalidDevice);
  const hipMemcpy3DParms copy = between_devices(*peer);
  return hipMemcpy3D(&copy);
}

TF_COMPOSED hipError_t hipMemcpy3DPeerAsync(hipMemcpy3DPeerParms* peer, hipStream_t stream) {
  if (peer == nullptr) return refuse(hipErrorInvalidValue);
  if (!devices_exist(*peer)) return refuse(hipErrorInvalidDevice);
  const hipMemcpy3DParms copy = between_devices(*peer);
  return hipMemcpy3DAsync(&copy, stream);
}
