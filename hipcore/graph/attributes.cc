// SPDX-License-Identifier: Apache-2.0
// Attributes of kernels' nodes, and nodes that are switched off.
#include <utility>

#include "hipcore/graph/library.h"
#include "transport/base/mutex.h"

namespace tf::graph {
namespace {

// hipLaunchAttributePriority of later versions of HIP than our headers.
constexpr int kPriority = 8;

// No device that HIP describes has such windows (accessPolicyMaxWindowSize is 0), so none may have bytes.
bool is_possible(const hipAccessPolicyWindow& window) {
  return window.hitRatio >= 0 && window.hitRatio <= 1 && window.num_bytes == 0 &&
         window.missProp != hipAccessPropertyPersisting;
}

bool known(hipKernelNodeAttrID attribute) {
  return attribute == hipKernelNodeAttributeAccessPolicyWindow ||
         attribute == hipKernelNodeAttributeCooperative || static_cast<int>(attribute) == kPriority;
}

void copy_attributes_of(const KernelWork& from, KernelWork& to) {
  to.cooperative = from.cooperative;
  to.hints = from.hints;
}

}  // namespace

const KernelWork* Library::kernel_of(const Node* node) {
  return node != nullptr ? std::get_if<KernelWork>(node->work.get()) : nullptr;
}

hipError_t Library::get_attribute(hipGraphNode_t node, hipKernelNodeAttrID attribute,
                                  hipKernelNodeAttrValue* value) {
  if (value == nullptr || !known(attribute)) return hipErrorInvalidValue;
  const MutexLock lock(mutex_);
  const KernelWork* work = kernel_of(nodes_.find(node));
  if (work == nullptr) return hipErrorInvalidValue;
  if (attribute == hipKernelNodeAttributeAccessPolicyWindow)
    value->accessPolicyWindow = work->hints.window;
  else
    value->cooperative =
        static_cast<int>(attribute) == kPriority ? work->hints.priority : work->cooperative;
  return hipSuccess;
}

hipError_t Library::set_attribute(hipGraphNode_t node, hipKernelNodeAttrID attribute,
                                  const hipKernelNodeAttrValue* value) {
  if (value == nullptr || !known(attribute)) return hipErrorInvalidValue;
  KernelWork changed;
  {
    const MutexLock lock(mutex_);
    const KernelWork* work = kernel_of(nodes_.find(node));
    if (work == nullptr) return hipErrorInvalidValue;
    changed = *work;
  }
  if (attribute == hipKernelNodeAttributeCooperative) {
    changed.cooperative = value->cooperative;
  } else if (static_cast<int>(attribute) == kPriority) {
    changed.hints.priority = value->cooperative;  // the union's int
  } else {
    if (!is_possible(value->accessPolicyWindow)) return hipErrorInvalidValue;
    changed.hints.window = value->accessPolicyWindow;
  }
  return set(nullptr, node, std::move(changed));
}

hipError_t Library::copy_attributes(hipGraphNode_t from, hipGraphNode_t to) {
  KernelWork changed;
  {
    const MutexLock lock(mutex_);
    const KernelWork* source = kernel_of(nodes_.find(from));
    const KernelWork* target = kernel_of(nodes_.find(to));
    if (source == nullptr || target == nullptr) return hipErrorInvalidValue;
    changed = *target;
    copy_attributes_of(*source, changed);
  }
  return set(nullptr, to, std::move(changed));
}

// New parameters leave a node's attributes as they are.
void Library::keep_attributes(hipGraphExec_t exec, hipGraphNode_t node, KernelWork& work) const {
  const MutexLock lock(mutex_);
  const auto found = exec != nullptr ? find(exec) : nullptr;
  const Node* holder = found != nullptr ? copy_of(*found, node) : nodes_.find(node);
  if (const KernelWork* old = kernel_of(holder)) copy_attributes_of(*old, work);
}

Node* Library::switchable(const Exec* exec, hipGraphNode_t node) const {
  Node* found = exec != nullptr && nodes_.find(node) != nullptr ? copy_of(*exec, node) : nullptr;
  if (found == nullptr) return nullptr;
  const Work& work = *found->work;
  const bool can = std::holds_alternative<KernelWork>(work) || std::holds_alternative<CopyWork>(work) ||
                   std::holds_alternative<FillWork>(work);
  return can ? found : nullptr;
}

hipError_t Library::set_enabled(hipGraphExec_t exec, hipGraphNode_t node, unsigned enabled) {
  bool wanted = enabled != 0;
  const MutexLock changing(change_mutex_);
  std::shared_ptr<Exec> found;
  Node* copy = nullptr;
  {
    const MutexLock lock(mutex_);
    found = find(exec);
    copy = switchable(found.get(), node);
    if (copy == nullptr) return hipErrorInvalidValue;
    if (copy->enabled == wanted) return hipSuccess;
  }
  SharedWork work = copy->work;
  return exchange(*found, *copy, work, wanted);
}

hipError_t Library::get_enabled(hipGraphExec_t exec, hipGraphNode_t node, unsigned* enabled) {
  if (enabled == nullptr) return hipErrorInvalidValue;
  const MutexLock lock(mutex_);
  const auto found = find(exec);
  const Node* copy = switchable(found.get(), node);
  if (copy == nullptr) return hipErrorInvalidValue;
  *enabled = copy->enabled ? 1 : 0;
  return hipSuccess;
}

}  // namespace tf::graph
