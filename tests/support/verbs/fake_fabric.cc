// SPDX-License-Identifier: Apache-2.0
#include "tests/support/verbs/fake_fabric.h"

#include <arpa/inet.h>

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "tests/support/verbs/core.h"

namespace tf::test {
namespace fake {

Core::Core(std::vector<FakeDevice> wanted) {
  for (FakeDevice& facts : wanted) {
    auto device = std::make_unique<Device>();
    device->core = this;
    device->node_type = IBV_NODE_CA;
    device->transport_type = facts.transport_type;
    std::snprintf(device->name, sizeof(device->name), "%s", facts.name.c_str());
    device->facts = std::move(facts);
    devices.push_back(std::move(device));
  }
  fill_device_functions(*this);
  fill_memory_functions(table);
  fill_completion_functions(table);
  fill_queue_functions(table);
  fill_posting_functions(table);
  nic_ = std::thread(run_nic, std::ref(*this));
}

Core::~Core() {
  {
    const MutexLock lock(mutex);
    ending = true;
    work.notify_all();
  }
  nic_.join();
  leave_device_functions(*this);
}

namespace {

bool is_idle(const Core& core) TF_REQUIRES(core.mutex) {
  return core.repeats.empty() &&
         std::all_of(core.queue_pairs.begin(), core.queue_pairs.end(), [](const auto& entry) {
           const Qp& qp = *entry.second;
           return qp.sends.empty() && (qp.now != IBV_QPS_ERR || qp.receives.empty());
         });
}

std::vector<FakeDevice> two_devices() { return {FakeDevice::make(0), FakeDevice::make(1)}; }

}  // namespace
}  // namespace fake

ibv_gid fake_gid(const std::string& address) {
  ibv_gid gid{};
  const std::string text = address.find(':') == std::string::npos ? "::ffff:" + address : address;
  if (::inet_pton(AF_INET6, text.c_str(), gid.raw) != 1) std::abort();
  return gid;
}

ibv_device_attr_ex FakeDevice::default_attributes() {
  ibv_device_attr_ex all{};
  ibv_device_attr& limits = all.orig_attr;
  std::snprintf(limits.fw_ver, sizeof(limits.fw_ver), "fake");
  limits.max_mr_size = std::uint64_t{1} << 40;
  limits.page_size_cap = 4096;
  limits.max_qp = 1024;
  limits.max_qp_wr = 4096;
  limits.max_sge = 16;
  limits.max_cq = 1024;
  limits.max_cqe = 65536;
  limits.max_mr = 65536;
  limits.max_pd = 64;
  limits.max_qp_rd_atom = 16;
  limits.max_qp_init_rd_atom = 16;
  limits.max_res_rd_atom = 16 * 1024;
  limits.max_pkeys = 1;
  return all;
}

FakeDevice FakeDevice::make(unsigned number) {
  FakeDevice device;
  device.name = "fake" + std::to_string(number);
  FakePort port;
  const std::string tail = std::to_string(number + 1);
  port.gids = {{0, fake_gid("fe80::" + tail), IBV_GID_TYPE_ROCE_V1},
               {1, fake_gid("fe80::" + tail), IBV_GID_TYPE_ROCE_V2},
               {2, fake_gid("10.9.0." + tail), IBV_GID_TYPE_ROCE_V2}};
  device.ports.push_back(std::move(port));
  return device;
}

FakeFabric::FakeFabric() : FakeFabric(fake::two_devices()) {}
FakeFabric::FakeFabric(std::vector<FakeDevice> devices)
    : core_(std::make_unique<fake::Core>(std::move(devices))) {}
FakeFabric::~FakeFabric() = default;

const rdma::Verbs* FakeFabric::verbs() const { return &core_->table; }

// --- Looking ---------------------------------------------------------------------------------------------

std::vector<std::string> FakeFabric::violations() const {
  const MutexLock lock(core_->mutex);
  return core_->violations;
}

FakeCounters FakeFabric::counters() const {
  const MutexLock lock(core_->mutex);
  return core_->totals;
}

FakeCounters FakeFabric::counters(std::uint32_t qp_num) const {
  const MutexLock lock(core_->mutex);
  const fake::Qp* const qp = core_->find_qp(qp_num);
  return qp == nullptr ? FakeCounters() : qp->counters;
}

std::vector<std::uint32_t> FakeFabric::queue_pairs(const std::string& device) const {
  const MutexLock lock(core_->mutex);
  std::vector<std::uint32_t> numbers;
  for (const auto& [number, qp] : core_->queue_pairs)
    if (device == qp->context->device->name) numbers.push_back(number);
  return numbers;
}

ibv_qp_attr FakeFabric::attributes(std::uint32_t qp_num) const {
  const MutexLock lock(core_->mutex);
  const fake::Qp* const qp = core_->find_qp(qp_num);
  return qp == nullptr ? ibv_qp_attr{} : qp->set;
}

std::size_t FakeFabric::pending_events(const std::string& device) const {
  const MutexLock lock(core_->mutex);
  std::size_t count = 0;
  for (const fake::Context* const context : core_->contexts)
    if (device == context->device->name) count += context->events.size();
  return count;
}

std::size_t FakeFabric::live_objects() const {
  const MutexLock lock(core_->mutex);
  return core_->objects;
}

std::size_t FakeFabric::registered_bytes() const {
  const MutexLock lock(core_->mutex);
  return core_->registered;
}

bool FakeFabric::wait_idle(std::chrono::milliseconds limit) const {
  const MutexLock lock(core_->mutex);
  return core_->idle.wait_until(core_->mutex, fake::Clock::now() + limit,
                                [&]() TF_REQUIRES(core_->mutex) { return fake::is_idle(*core_); });
}

void FakeFabric::set_watching(bool watching) {
  const MutexLock lock(core_->mutex);
  core_->watching = watching;
}

// --- Time ------------------------------------------------------------------------------------------------

void FakeFabric::pause() {
  const MutexLock lock(core_->mutex);
  core_->paused = true;
}

void FakeFabric::resume() {
  const MutexLock lock(core_->mutex);
  core_->paused = false;
  core_->wake();
}

void FakeFabric::set_execution_delay(Nanoseconds delay) {
  const MutexLock lock(core_->mutex);
  core_->execution_delay = delay;
}

void FakeFabric::set_completion_delay(Nanoseconds delay) {
  const MutexLock lock(core_->mutex);
  core_->completion_delay = delay;
}

void FakeFabric::set_jitter(Nanoseconds most, unsigned seed) {
  const MutexLock lock(core_->mutex);
  core_->jitter = most;
  core_->random.seed(seed);
}

void FakeFabric::set_retry_time(Nanoseconds time) {
  const MutexLock lock(core_->mutex);
  core_->retry_time = time;
  core_->wake();
}

void FakeFabric::set_rnr_time(Nanoseconds time) {
  const MutexLock lock(core_->mutex);
  core_->rnr_time = time;
}

void FakeFabric::set_read_lateness(Nanoseconds lateness) {
  const MutexLock lock(core_->mutex);
  core_->read_lateness = lateness;
  core_->wake();
}

void FakeFabric::repeat_reads_after(Nanoseconds delay) {
  const MutexLock lock(core_->mutex);
  core_->repeat_delay = delay;
}

// --- Faults ----------------------------------------------------------------------------------------------

void FakeFabric::fail_next(ibv_wr_opcode opcode, ibv_wc_status status, unsigned skip) {
  const MutexLock lock(core_->mutex);
  core_->faults.push_back({opcode, status, skip});
}

void FakeFabric::cut_link(const std::string& device, const std::string& other) {
  const MutexLock lock(core_->mutex);
  core_->cuts.insert(std::minmax(device, other));
}

void FakeFabric::mend_link(const std::string& device, const std::string& other) {
  const MutexLock lock(core_->mutex);
  core_->cuts.erase(std::minmax(device, other));
  core_->wake();
}

void FakeFabric::fail_qp(std::uint32_t qp_num) {
  const MutexLock lock(core_->mutex);
  fake::Qp* const qp = core_->find_qp(qp_num);
  if (qp == nullptr) return;
  core_->to_error(*qp);
  core_->raise(IBV_EVENT_QP_FATAL, *qp);
}

void FakeFabric::fail_device(const std::string& device) {
  const MutexLock lock(core_->mutex);
  for (const auto& [number, qp] : core_->queue_pairs)
    if (device == qp->context->device->name) core_->to_error(*qp);
  core_->raise(IBV_EVENT_DEVICE_FATAL, device);
}

void FakeFabric::raise(ibv_event_type type, const std::string& device) {
  const MutexLock lock(core_->mutex);
  core_->raise(type, device);
}

void FakeFabric::raise(ibv_event_type type, std::uint32_t qp_num) {
  const MutexLock lock(core_->mutex);
  if (fake::Qp* const qp = core_->find_qp(qp_num); qp != nullptr) core_->raise(type, *qp);
}

void FakeFabric::set_port_state(const std::string& device, std::uint8_t port, ibv_port_state state) {
  const MutexLock lock(core_->mutex);
  for (const auto& one : core_->devices)
    if (device == one->name) one->facts.ports.at(port - 1u).state = state;
  core_->raise(state == IBV_PORT_ACTIVE ? IBV_EVENT_PORT_ACTIVE : IBV_EVENT_PORT_ERR, device, port);
  core_->wake();
}

void FakeFabric::refuse_create_qp(int error, unsigned count) {
  const MutexLock lock(core_->mutex);
  core_->refused_qps = {error, count};
}

void FakeFabric::refuse_create_cq(int error, unsigned count) {
  const MutexLock lock(core_->mutex);
  core_->refused_cqs = {error, count};
}

void FakeFabric::refuse_reg_mr(int error, unsigned count) {
  const MutexLock lock(core_->mutex);
  core_->refused_mrs = {error, count};
}

void FakeFabric::set_refusing_posts_in_error(bool refusing) {
  const MutexLock lock(core_->mutex);
  core_->refuses_in_error = refusing;
}

void FakeFabric::set_silent_flushes(bool silent) {
  const MutexLock lock(core_->mutex);
  core_->silent_flushes = silent;
}

void FakeFabric::set_memory_limit(std::size_t bytes) {
  const MutexLock lock(core_->mutex);
  core_->memory_limit = bytes;
}

}  // namespace tf::test
