// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "tests/support/verbs/core.h"
#include "transport/base/mutex.h"

namespace tf::test::fake {
namespace {

// get_device_list() has no argument to find its fabric by: each fabric takes one of these.
constexpr int kSlots = 8;
Mutex slots_mutex;
std::array<Core*, kSlots> slots TF_GUARDED_BY(slots_mutex){};

ibv_device** list_devices(Core& core, int* count) {
  const std::size_t number = core.devices.size();
  auto** const list = static_cast<ibv_device**>(std::calloc(number + 1, sizeof(ibv_device*)));
  for (std::size_t i = 0; i < number; ++i) list[i] = core.devices[i].get();
  if (count != nullptr) *count = static_cast<int>(number);
  return list;
}

template <int kSlot>
ibv_device** get_device_list(int* count) {
  const MutexLock lock(slots_mutex);
  return list_devices(*slots[kSlot], count);
}

template <int... kNumbers>
void choose_slot(Core& core, std::integer_sequence<int, kNumbers...>) {
  using Function = ibv_device** (*)(int*);
  constexpr std::array<Function, kSlots> functions{get_device_list<kNumbers>...};
  const MutexLock lock(slots_mutex);
  for (int i = 0; i < kSlots; ++i) {
    if (slots[i] != nullptr) continue;
    slots[i] = &core;
    core.slot = i;
    core.table.get_device_list = functions[i];
    return;
  }
  std::fputs("FakeFabric: too many at a time\n", stderr);
  std::abort();
}

void free_device_list(ibv_device** list) { std::free(list); }
const char* get_device_name(ibv_device* device) { return device->name; }

bool is_of_cq(ibv_event_type type) { return type == IBV_EVENT_CQ_ERR; }
bool is_of_qp(ibv_event_type type) {
  switch (type) {
    case IBV_EVENT_QP_FATAL:
    case IBV_EVENT_QP_REQ_ERR:
    case IBV_EVENT_QP_ACCESS_ERR:
    case IBV_EVENT_COMM_EST:
    case IBV_EVENT_SQ_DRAINED:
    case IBV_EVENT_PATH_MIG:
    case IBV_EVENT_PATH_MIG_ERR:
    case IBV_EVENT_QP_LAST_WQE_REACHED: return true;
    default: return false;
  }
}

ibv_context* open_device(ibv_device* device) {
  auto* const of = static_cast<Device*>(device);
  Core& core = *of->core;
  auto* const context = new Context{};
  context->device = device;
  context->core = &core;
  context->of = of;
  context->cmd_fd = -1;
  context->async_fd = make_event_fd();
  context->num_comp_vectors = 1;
  const MutexLock lock(core.mutex);
  core.contexts.insert(context);
  ++core.objects;
  return context;
}

int close_device(ibv_context* base) {
  auto* const context = static_cast<Context*>(base);
  Core& core = *context->core;
  const MutexLock lock(core.mutex);
  if (context->children != 0) {
    core.violate("close_device: " + std::to_string(context->children) + " objects of it exist");
    return EBUSY;
  }
  core.contexts.erase(context);
  --core.objects;
  ::close(context->async_fd);
  delete context;
  return 0;
}

int query_device_ex(ibv_context* base, ibv_device_attr_ex* attributes) {
  const FakeDevice& facts = static_cast<Context*>(base)->of->facts;
  *attributes = facts.attributes;
  attributes->orig_attr.phys_port_cnt = static_cast<std::uint8_t>(facts.ports.size());
  return 0;
}

int query_port(ibv_context* base, std::uint8_t number, ibv_port_attr* attributes) {
  auto* const context = static_cast<Context*>(base);
  std::memset(attributes, 0, sizeof(*attributes));
  if (number == 0 || number > context->of->facts.ports.size()) return EINVAL;
  const MutexLock lock(context->core->mutex);  // for the state
  const FakePort& port = context->of->facts.ports[number - 1u];
  attributes->state = port.state;
  attributes->max_mtu = IBV_MTU_4096;
  attributes->active_mtu = port.active_mtu;
  attributes->max_msg_sz = port.max_message;
  attributes->pkey_tbl_len = 1;
  attributes->lid = port.lid;
  attributes->link_layer = port.link_layer;
  for (const FakeGid& gid : port.gids)
    attributes->gid_tbl_len = std::max(attributes->gid_tbl_len, static_cast<int>(gid.index) + 1);
  attributes->gid_tbl_len += 2;  // a table has empty entries
  return 0;
}

int query_gid_ex(ibv_context* base, std::uint32_t number, std::uint32_t index, ibv_gid_entry* entry) {
  auto* const context = static_cast<Context*>(base);
  ibv_port_attr attributes;
  if (number > 255 || query_port(base, static_cast<std::uint8_t>(number), &attributes) != 0) return EINVAL;
  if (index >= static_cast<std::uint32_t>(attributes.gid_tbl_len)) return EINVAL;
  for (const FakeGid& gid : context->of->facts.ports[number - 1].gids) {
    if (gid.index != index) continue;
    *entry = ibv_gid_entry{};
    entry->gid = gid.gid;
    entry->gid_index = index;
    entry->port_num = number;
    entry->gid_type = gid.type;
    return 0;
  }
  return ENODATA;
}

int get_async_event(ibv_context* base, ibv_async_event* event) {
  auto* const context = static_cast<Context*>(base);
  for (;;) {
    if (!wait_event_fd(context->async_fd)) return -1;
    const MutexLock lock(context->core->mutex);
    if (context->events.empty()) continue;  // somebody else took it
    *event = context->events.front();
    context->events.pop_front();
    take_from_event_fd(context->async_fd);
    if (is_of_cq(event->event_type)) ++static_cast<Cq*>(event->element.cq)->unacknowledged_async;
    if (is_of_qp(event->event_type)) ++static_cast<Qp*>(event->element.qp)->unacknowledged_async;
    return 0;
  }
}

void ack_async_event(ibv_async_event* event) {
  if (is_of_cq(event->event_type)) {
    auto* const cq = static_cast<Cq*>(event->element.cq);
    const MutexLock lock(core_of(cq).mutex);
    --cq->unacknowledged_async;
  } else if (is_of_qp(event->event_type)) {
    auto* const qp = static_cast<Qp*>(event->element.qp);
    const MutexLock lock(core_of(qp).mutex);
    --qp->unacknowledged_async;
  }
}

const char* event_type_str(ibv_event_type event) {
  switch (event) {
    case IBV_EVENT_CQ_ERR: return "CQ error";
    case IBV_EVENT_QP_FATAL: return "local work queue catastrophic error";
    case IBV_EVENT_QP_REQ_ERR: return "invalid request local work queue error";
    case IBV_EVENT_QP_ACCESS_ERR: return "local access violation work queue error";
    case IBV_EVENT_PORT_ACTIVE: return "port active";
    case IBV_EVENT_PORT_ERR: return "port error";
    case IBV_EVENT_DEVICE_FATAL: return "local catastrophic error";
    default: return "another event";
  }
}

}  // namespace

void fill_device_functions(Core& core) {
  choose_slot(core, std::make_integer_sequence<int, kSlots>());
  core.table.free_device_list = free_device_list;
  core.table.get_device_name = get_device_name;
  core.table.open_device = open_device;
  core.table.close_device = close_device;
  core.table.query_device_ex = query_device_ex;
  core.table.query_port = query_port;
  core.table.query_gid_ex = query_gid_ex;
  core.table.get_async_event = get_async_event;
  core.table.ack_async_event = ack_async_event;
  core.table.event_type_str = event_type_str;
}

void leave_device_functions(Core& core) {
  const MutexLock lock(slots_mutex);
  slots[static_cast<std::size_t>(core.slot)] = nullptr;
}

void Core::raise(Context& context, ibv_async_event event) {
  context.events.push_back(event);
  signal_event_fd(context.async_fd);
}

void Core::raise(ibv_event_type type, const std::string& device, int port) {
  ibv_async_event event{};
  event.event_type = type;
  event.element.port_num = port;
  for (Context* const context : contexts)
    if (device == context->device->name) raise(*context, event);
}

void Core::raise(ibv_event_type type, Qp& qp) {
  ibv_async_event event{};
  event.event_type = type;
  event.element.qp = &qp;
  if (is_of_cq(type)) event.element.cq = qp.send_cq;
  raise(*static_cast<Context*>(qp.context), event);
}

void drop_events(Context& context, const void* element) {
  std::erase_if(context.events, [&](const ibv_async_event& event) {
    const bool of_it = (is_of_cq(event.event_type) && static_cast<Cq*>(event.element.cq) == element) ||
                       (is_of_qp(event.event_type) && static_cast<Qp*>(event.element.qp) == element);
    if (of_it) take_from_event_fd(context.async_fd);
    return of_it;
  });
}

int make_event_fd() { return ::eventfd(0, EFD_SEMAPHORE | EFD_CLOEXEC); }

void signal_event_fd(int fd) {
  const std::uint64_t one = 1;
  if (::write(fd, &one, sizeof(one)) != sizeof(one)) std::abort();
}

void take_from_event_fd(int fd) {
  std::uint64_t one = 0;
  if (::read(fd, &one, sizeof(one)) != sizeof(one)) std::abort();
}

bool wait_event_fd(int fd) {
  const int flags = ::fcntl(fd, F_GETFL);
  pollfd entry{fd, POLLIN, 0};
  const int ready = ::poll(&entry, 1, (flags & O_NONBLOCK) != 0 ? 0 : -1);
  if (ready > 0) return true;
  if (ready == 0) errno = EAGAIN;
  return false;
}

}  // namespace tf::test::fake
