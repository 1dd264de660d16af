// SPDX-License-Identifier: Apache-2.0
// Verbs: everything of libibverbs that hip-remote calls, as one table of functions.
//
// The library is opened on first use (load_verbs()), so a program built with RDMA also starts where there is
// no libibverbs. Types, constants and structures are those of <infiniband/verbs.h>. The calls that this
// header makes inline through a context are in the table too, so that tests can put their own provider behind
// it (tests/support/verbs). Names, arguments, results and thread rules are libibverbs's: see the manual page
// of ibv_NAME. "0 or errno" calls return the error number; pointers are null with errno set.
//
// Accessed directly, since the library has no function for them: ibv_context::async_fd, ibv_comp_channel::fd,
// ibv_device::transport_type, ibv_mr::lkey/rkey, ibv_qp::qp_num.
#pragma once

#include <infiniband/verbs.h>

#include <cstddef>
#include <cstdint>

#include "transport/base/status.h"

namespace tf::rdma {

struct Verbs {
  // --- Devices ------------------------------------------------------------------------------------------
  ibv_device** (*get_device_list)(int* count);
  void (*free_device_list)(ibv_device** list);
  const char* (*get_device_name)(ibv_device* device);
  ibv_context* (*open_device)(ibv_device* device);
  int (*close_device)(ibv_context* context);
  int (*query_device_ex)(ibv_context* context, ibv_device_attr_ex* attributes);
  int (*query_port)(ibv_context* context, std::uint8_t port, ibv_port_attr* attributes);
  // ENODATA if the entry is empty.
  int (*query_gid_ex)(ibv_context* context, std::uint32_t port, std::uint32_t index, ibv_gid_entry* entry);
  int (*get_async_event)(ibv_context* context, ibv_async_event* event);  // -1 and errno
  void (*ack_async_event)(ibv_async_event* event);
  const char* (*event_type_str)(ibv_event_type event);

  // --- Memory -------------------------------------------------------------------------------------------
  ibv_pd* (*alloc_pd)(ibv_context* context);
  int (*dealloc_pd)(ibv_pd* pd);
  ibv_mr* (*reg_mr)(ibv_pd* pd, void* address, std::size_t bytes, int access);
  // Null with EOPNOTSUPP if the library, kernel or device lacks it.
  ibv_mr* (*reg_dmabuf_mr)(ibv_pd* pd, std::uint64_t offset, std::size_t bytes, std::uint64_t iova, int fd,
                           int access);
  int (*dereg_mr)(ibv_mr* mr);

  // --- Completions --------------------------------------------------------------------------------------
  ibv_comp_channel* (*create_comp_channel)(ibv_context* context);
  int (*destroy_comp_channel)(ibv_comp_channel* channel);
  ibv_cq* (*create_cq)(ibv_context* context, int entries, void* user, ibv_comp_channel* channel, int vector);
  int (*destroy_cq)(ibv_cq* cq);
  int (*get_cq_event)(ibv_comp_channel* channel, ibv_cq** cq, void** user);  // -1 and errno
  void (*ack_cq_events)(ibv_cq* cq, unsigned count);
  int (*req_notify_cq)(ibv_cq* cq, int solicited_only);
  int (*poll_cq)(ibv_cq* cq, int entries, ibv_wc* completions);  // how many, or below zero
  const char* (*wc_status_str)(ibv_wc_status status);

  // --- Queue pairs --------------------------------------------------------------------------------------
  ibv_qp* (*create_qp)(ibv_pd* pd, ibv_qp_init_attr* attributes);
  int (*modify_qp)(ibv_qp* qp, ibv_qp_attr* attributes, int mask);
  int (*query_qp)(ibv_qp* qp, ibv_qp_attr* attributes, int mask, ibv_qp_init_attr* init);
  int (*destroy_qp)(ibv_qp* qp);
  int (*post_send)(ibv_qp* qp, ibv_send_wr* requests, ibv_send_wr** bad);
  int (*post_recv)(ibv_qp* qp, ibv_recv_wr* requests, ibv_recv_wr** bad);
};

// The system's libibverbs, opened once and never closed. kUnavailable says why not: the library is missing,
// or lacks a function (which). Any thread.
Result<const Verbs*> load_verbs();

}  // namespace tf::rdma
