// SPDX-License-Identifier: Apache-2.0
// Loads libibverbs and fills the table of its functions.
#include "rdma/verbs.h"

#include <dlfcn.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

// What we take from the library: X(function, version of the symbol). Versions are named because the library
// also has older forms of the same functions with other structures.
#define TF_RDMA_FUNCTIONS(X)                 \
  X(ibv_get_device_list, "IBVERBS_1.1")      \
  X(ibv_free_device_list, "IBVERBS_1.1")     \
  X(ibv_get_device_name, "IBVERBS_1.1")      \
  X(ibv_open_device, "IBVERBS_1.1")          \
  X(ibv_close_device, "IBVERBS_1.1")         \
  X(ibv_query_device, "IBVERBS_1.1")         \
  X(ibv_query_port, "IBVERBS_1.1")           \
  X(_ibv_query_gid_ex, "IBVERBS_1.11")       \
  X(ibv_get_async_event, "IBVERBS_1.1")      \
  X(ibv_ack_async_event, "IBVERBS_1.1")      \
  X(ibv_event_type_str, "IBVERBS_1.1")       \
  X(ibv_alloc_pd, "IBVERBS_1.1")             \
  X(ibv_dealloc_pd, "IBVERBS_1.1")           \
  X(ibv_reg_mr, "IBVERBS_1.1")               \
  X(ibv_reg_mr_iova2, "IBVERBS_1.8")         \
  X(ibv_dereg_mr, "IBVERBS_1.1")             \
  X(ibv_create_comp_channel, "IBVERBS_1.0")  \
  X(ibv_destroy_comp_channel, "IBVERBS_1.0") \
  X(ibv_create_cq, "IBVERBS_1.1")            \
  X(ibv_destroy_cq, "IBVERBS_1.1")           \
  X(ibv_get_cq_event, "IBVERBS_1.1")         \
  X(ibv_ack_cq_events, "IBVERBS_1.1")        \
  X(ibv_wc_status_str, "IBVERBS_1.1")        \
  X(ibv_create_qp, "IBVERBS_1.1")            \
  X(ibv_modify_qp, "IBVERBS_1.1")            \
  X(ibv_query_qp, "IBVERBS_1.1")             \
  X(ibv_destroy_qp, "IBVERBS_1.1")           \
  X(ibv_fork_init, "IBVERBS_1.1")

// The same, but the library may be too old for it.
#define TF_RDMA_OPTIONAL_FUNCTIONS(X)  \
  X(ibv_reg_dmabuf_mr, "IBVERBS_1.12") \
  X(ibv_is_fork_initialized, "IBVERBS_1.13")

namespace tf::rdma {
namespace {

constexpr const char* kLibrary = "libibverbs.so.1";

// Separate from Verbs only because functions of ours stand between. Call as (symbols.name)(...): the header
// has macros with some of these names.
struct Symbols {
#define TF_RDMA_MEMBER(name, version) decltype(&::name) name = nullptr;
  TF_RDMA_FUNCTIONS(TF_RDMA_MEMBER)
  TF_RDMA_OPTIONAL_FUNCTIONS(TF_RDMA_MEMBER)
#undef TF_RDMA_MEMBER
};

struct Loaded {
  Symbols symbols;
  Verbs verbs;
  Status failure;
};
const Loaded& loaded();

template <typename Function>
bool find(void* library, const char* name, const char* version, Function& function) {
  function = reinterpret_cast<Function>(::dlvsym(library, name, version));
  return function != nullptr;
}

Status find_all(void* library, Symbols& symbols) {
  const auto missing = [](const char* name, const char* version) {
    return Status(Code::kUnavailable, std::string(kLibrary) + " has no " + name + " of version " + version +
                                          ": rdma needs rdma-core 32 or newer");
  };
#define TF_RDMA_FIND(name, version) \
  if (!find(library, #name, version, symbols.name)) return missing(#name, version);
  TF_RDMA_FUNCTIONS(TF_RDMA_FIND)
#undef TF_RDMA_FIND
#define TF_RDMA_FIND_OPTIONAL(name, version) find(library, #name, version, symbols.name);
  TF_RDMA_OPTIONAL_FUNCTIONS(TF_RDMA_FIND_OPTIONAL)
#undef TF_RDMA_FIND_OPTIONAL
  return Status::ok();
}

// --- What the header does inline, with the library's functions found at run time ---------------------------

int query_device_ex(ibv_context* context, ibv_device_attr_ex* attributes) {
  std::memset(attributes, 0, sizeof(*attributes));
  if (verbs_context* const extended = verbs_get_ctx_op(context, query_device_ex)) {
    const int error = extended->query_device_ex(context, nullptr, attributes, sizeof(*attributes));
    if (error != EOPNOTSUPP && error != ENOSYS) return error;
    std::memset(attributes, 0, sizeof(*attributes));
  }
  return loaded().symbols.ibv_query_device(context, &attributes->orig_attr);
}

int query_port(ibv_context* context, std::uint8_t port, ibv_port_attr* attributes) {
  std::memset(attributes, 0, sizeof(*attributes));  // the library's own function fills an older, shorter form
  if (verbs_context* const extended = verbs_get_ctx_op(context, query_port))
    return extended->query_port(context, port, attributes, sizeof(*attributes));
  return (loaded().symbols.ibv_query_port)(context, port,
                                           reinterpret_cast<_compat_ibv_port_attr*>(attributes));
}

int query_gid_ex(ibv_context* context, std::uint32_t port, std::uint32_t index, ibv_gid_entry* entry) {
  return loaded().symbols._ibv_query_gid_ex(context, port, index, entry, 0, sizeof(*entry));
}

ibv_mr* reg_mr(ibv_pd* pd, void* address, std::size_t bytes, int access) {
  const Symbols& symbols = loaded().symbols;
  if ((access & IBV_ACCESS_OPTIONAL_RANGE) == 0) return (symbols.ibv_reg_mr)(pd, address, bytes, access);
  return symbols.ibv_reg_mr_iova2(pd, address, bytes, reinterpret_cast<std::uintptr_t>(address),
                                  static_cast<unsigned>(access));  // leaves out bits the kernel does not know
}

ibv_mr* reg_dmabuf_mr(ibv_pd* pd, std::uint64_t offset, std::size_t bytes, std::uint64_t iova, int fd,
                      int access) {
  const auto function = loaded().symbols.ibv_reg_dmabuf_mr;
  if (function != nullptr) return function(pd, offset, bytes, iova, fd, access);
  errno = EOPNOTSUPP;
  return nullptr;
}

int req_notify_cq(ibv_cq* cq, int solicited_only) {
  return cq->context->ops.req_notify_cq(cq, solicited_only);
}

int poll_cq(ibv_cq* cq, int entries, ibv_wc* completions) {
  return cq->context->ops.poll_cq(cq, entries, completions);
}

int post_send(ibv_qp* qp, ibv_send_wr* requests, ibv_send_wr** bad) {
  return qp->context->ops.post_send(qp, requests, bad);
}

int post_recv(ibv_qp* qp, ibv_recv_wr* requests, ibv_recv_wr** bad) {
  return qp->context->ops.post_recv(qp, requests, bad);
}

Verbs make_table(const Symbols& symbols) {
  return Verbs{
      .get_device_list = symbols.ibv_get_device_list,
      .free_device_list = symbols.ibv_free_device_list,
      .get_device_name = symbols.ibv_get_device_name,
      .open_device = symbols.ibv_open_device,
      .close_device = symbols.ibv_close_device,
      .query_device_ex = query_device_ex,
      .query_port = query_port,
      .query_gid_ex = query_gid_ex,
      .get_async_event = symbols.ibv_get_async_event,
      .ack_async_event = symbols.ibv_ack_async_event,
      .event_type_str = symbols.ibv_event_type_str,
      .alloc_pd = symbols.ibv_alloc_pd,
      .dealloc_pd = symbols.ibv_dealloc_pd,
      .reg_mr = reg_mr,
      .reg_dmabuf_mr = reg_dmabuf_mr,
      .dereg_mr = symbols.ibv_dereg_mr,
      .create_comp_channel = symbols.ibv_create_comp_channel,
      .destroy_comp_channel = symbols.ibv_destroy_comp_channel,
      .create_cq = symbols.ibv_create_cq,
      .destroy_cq = symbols.ibv_destroy_cq,
      .get_cq_event = symbols.ibv_get_cq_event,
      .ack_cq_events = symbols.ibv_ack_cq_events,
      .req_notify_cq = req_notify_cq,
      .poll_cq = poll_cq,
      .wc_status_str = symbols.ibv_wc_status_str,
      .create_qp = symbols.ibv_create_qp,
      .modify_qp = symbols.ibv_modify_qp,
      .query_qp = symbols.ibv_query_qp,
      .destroy_qp = symbols.ibv_destroy_qp,
      .post_send = post_send,
      .post_recv = post_recv,
  };
}

// Programs fork. Kernels before 5.12 then give the parent a new page at its next write, and the device keeps
// using the old one. On those kernels registered pages are kept from children. That is the lesser evil, since
// a child then loses everything else on these pages. It is not done where the kernel copies such pages at
// fork; older libraries do not report that. If the program has used verbs itself, it is too late, and the
// program's choice counts.
void prepare_for_forks(const Symbols& symbols) {
  if (symbols.ibv_is_fork_initialized != nullptr && (symbols.ibv_is_fork_initialized)() == IBV_FORK_UNNEEDED)
    return;
  (void)(symbols.ibv_fork_init)();
}

Loaded load() {
  Loaded result;
  void* const library = ::dlopen(kLibrary, RTLD_NOW | RTLD_LOCAL);  // never closed: drivers keep threads
  if (library == nullptr) {
    const char* const why = ::dlerror();
    result.failure = Status(Code::kUnavailable, std::string("rdma needs ") + kLibrary + ": " +
                                                    (why == nullptr ? "cannot be opened" : why));
    return result;
  }
  result.failure = find_all(library, result.symbols);
  if (!result.failure.is_ok()) return result;
  result.verbs = make_table(result.symbols);
  prepare_for_forks(result.symbols);
  return result;
}

// Constant once built. The functions of the table above have no other way to reach the originals.
const Loaded& loaded() {
  static const Loaded result = load();
  return result;
}

}  // namespace

Result<const Verbs*> load_verbs() {
  const Loaded& result = loaded();
  if (!result.failure.is_ok()) return result.failure;
  return &result.verbs;
}

}  // namespace tf::rdma
