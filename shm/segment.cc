// SPDX-License-Identifier: Apache-2.0
// Creates, seals, opens and checks the shared segment.
#include "shm/segment.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "shm/huge_pages.h"

namespace tf::shm {
namespace {

constexpr int kSeals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;

Result<net::OwnedFd> make_memfd() {
  net::OwnedFd fd(::memfd_create("hip-remote-shm", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!fd) return Status::from_errno("memfd_create", errno);
  return fd;
}

Result<std::byte*> map(int fd) {
  void* memory = ::mmap(nullptr, kSegmentBytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (memory == MAP_FAILED) return Status::from_errno("mmap of the shared segment", errno);
  // A first touch costs 1 to 2 us a page, and the data path must never fault.
  populate(memory, kSegmentBytes);
  ::madvise(memory, kSegmentBytes,
            MADV_DONTFORK);  // a forked child must not see or disturb the rings
  return static_cast<std::byte*>(memory);
}

Status wrong(const std::string& what) { return {Code::kProtocol, "shared segment: " + what}; }

Status check_file(int fd) {
  struct stat file {};
  if (::fstat(fd, &file) != 0) return Status::from_errno("fstat of the shared segment", errno);
  if (static_cast<std::uint64_t>(file.st_size) != kSegmentBytes)
    return wrong("it has " + std::to_string(file.st_size) + " bytes, expected " +
                 std::to_string(kSegmentBytes));
  const int seals = ::fcntl(fd, F_GET_SEALS);
  if (seals < 0 || (seals & kSeals) != kSeals) return wrong("it is not sealed against resizing");
  if ((seals & F_SEAL_WRITE) != 0) return wrong("it is sealed against writing");
  return Status::ok();
}

Status check_header(const std::byte* base) {
  SegmentHeader header;
  std::memcpy(&header, base, sizeof header);
  const SegmentHeader expected;
  if (header.magic != expected.magic) return wrong("wrong magic");
  if (header.version != expected.version)
    return wrong("version " + std::to_string(header.version) + ", expected " +
                 std::to_string(expected.version));
  if (std::memcmp(&header, &expected, sizeof header) != 0) return wrong("its layout differs from ours");
  return Status::ok();
}

}  // namespace

Result<Segment> Segment::create(net::OwnedFd& fd) {
  Result<net::OwnedFd> made = make_memfd();
  if (!made) return made.status();
  if (::ftruncate(made->get(), static_cast<off_t>(kSegmentBytes)) != 0)
    return Status::from_errno("sizing the shared segment", errno);
  Result<std::byte*> base = map(made->get());
  if (!base) return base.status();
  Segment segment(*base);
  const SegmentHeader header;
  std::memcpy(segment.base_, &header, sizeof header);
  for (auto [offset, capacity] : {std::pair{kClientRing, kClientRingBytes},
                                  {kWorkerRing, kWorkerRingBytes},
                                  {kClientBulk, kBulkRingBytes},
                                  {kWorkerBulk, kBulkRingBytes}}) {
    TF_RETURN_IF_ERROR(RingView::format(segment.part(offset, capacity), capacity).status());
  }
  if (::fcntl(made->get(), F_ADD_SEALS, kSeals) != 0)
    return Status::from_errno("sealing the shared segment", errno);
  fd = std::move(*made);
  return segment;
}

Result<Segment> Segment::open(const net::OwnedFd& fd) {
  TF_RETURN_IF_ERROR(check_file(fd.get()));
  Result<std::byte*> base = map(fd.get());
  if (!base) return base.status();
  Segment segment(*base);
  TF_RETURN_IF_ERROR(check_header(segment.base_));
  return segment;
}

Segment::Segment(Segment&& other) noexcept : base_(std::exchange(other.base_, nullptr)) {}

Segment::~Segment() {
  if (base_ != nullptr) ::munmap(base_, kSegmentBytes);
}

Result<Rings> Segment::rings(Side side) const {
  Result<RingView> client = RingView::attach(part(kClientRing, kClientRingBytes), kClientRingBytes);
  Result<RingView> worker = RingView::attach(part(kWorkerRing, kWorkerRingBytes), kWorkerRingBytes);
  Result<RingView> client_bulk = RingView::attach(part(kClientBulk, kBulkRingBytes), kBulkRingBytes);
  Result<RingView> worker_bulk = RingView::attach(part(kWorkerBulk, kBulkRingBytes), kBulkRingBytes);
  for (const Result<RingView>* ring : {&client, &worker, &client_bulk, &worker_bulk})
    TF_RETURN_IF_ERROR(ring->status());
  const Doorbell client_bell(base_ + kClientDoorbell, true);
  const Doorbell worker_bell(base_ + kWorkerDoorbell, true);
  if (side == Side::kClient)
    return Rings{*client, *worker, *client_bulk, *worker_bulk, client_bell, worker_bell};
  return Rings{*worker, *client, *worker_bulk, *client_bulk, worker_bell, client_bell};
}

Status segments_available() { return make_memfd().status(); }

}  // namespace tf::shm
