// SPDX-License-Identifier: Apache-2.0
// Passes the memory of leases to the client.
#include "worker/memory/lease_files.h"

#include <chrono>

#include "hipcore/wire/shared_files.h"

namespace tf::worker {
namespace {

// A client takes one file before it asks for the next lease, so there is always room for one.
constexpr std::chrono::milliseconds kPassTime{100};

}  // namespace

bool LeaseFiles::pass(std::uint64_t address, hipMemGenericAllocationHandle_t memory) {
  if (!socket_) return false;
  int descriptor = -1;
  const hipError_t exported = own_calls_.keep(
      hip_.hipMemExportToShareableHandle(&descriptor, memory, hipMemHandleTypePosixFileDescriptor, 0));
  const net::OwnedFd file(descriptor);
  if (exported == hipSuccess && file &&
      protocol::send_lease_file(socket_.get(), address, file.get(), Deadline::after(kPassTime)).is_ok())
    return true;
  socket_.reset();
  return false;
}

}  // namespace tf::worker
