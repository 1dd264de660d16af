// SPDX-License-Identifier: Apache-2.0
// Maps and registers a plane's memory; creates and connects its queue pairs.
#include "rdma/plane.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/random.h>

#include <array>
#include <bit>
#include <cerrno>
#include <string>

#include "transport/net/standard_descriptors.h"

namespace tf::rdma {
namespace {

constexpr std::size_t kPageBytes = 4096;  // of the layout; the machine's page size does not matter
constexpr std::uint32_t kNumberMask = 0xffffff;
static_assert(kLineBytes + kSendDepth * sizeof(std::uint64_t) <= kPageBytes, "the scratch page has both");

}  // namespace

// --- Memory -----------------------------------------------------------------------------------------------

Result<Pages> Pages::map(std::size_t bytes) {
  void* const memory =
      ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
  if (memory == MAP_FAILED) return Status::from_errno("rdma: memory for the rings", errno);
  Pages pages;
  pages.memory_ = {static_cast<std::byte*>(memory), bytes};
  return pages;
}

Pages::~Pages() {
  if (!memory_.empty()) ::munmap(memory_.data(), memory_.size());
}

Result<Registration> Registration::make(const Verbs& verbs, ibv_pd* pd, std::span<std::byte> memory,
                                        int access) {
  Registration made;
  made.region_ = verbs.reg_mr(pd, memory.data(), memory.size(), access);
  made.verbs_ = &verbs;
  if (made.region_ != nullptr) return made;
  const int error = errno;
  std::string what = "rdma: registering " + std::to_string(memory.size()) + " bytes";
  if (error == ENOMEM) what += " (see ulimit -l)";
  return Status::from_errno(what, error);
}

Result<Registration> Registration::make(const Verbs& verbs, ibv_pd* pd, std::span<std::byte> memory,
                                        int access, const DeviceMemory& device) {
  Registration made;
  errno = 0;
  made.region_ = verbs.reg_dmabuf_mr(pd, device.offset, memory.size(),
                                     reinterpret_cast<std::uintptr_t>(memory.data()), device.file, access);
  made.verbs_ = &verbs;
  if (made.region_ != nullptr) return made;
  const int error = errno;
  if (error == EOPNOTSUPP || error == ENOSYS)
    return Status{Code::kUnsupported, "rdma: the kernel or the RDMA device registers no dma-bufs"};
  return Status::from_errno("rdma: registering a dma-buf of " + std::to_string(memory.size()) + " bytes",
                            error);
}

Registration::Registration(Registration&& other) noexcept
    : verbs_(other.verbs_), region_(std::exchange(other.region_, nullptr)) {}

Registration& Registration::operator=(Registration&& other) noexcept {
  if (this != &other) {
    reset();
    verbs_ = other.verbs_;
    region_ = std::exchange(other.region_, nullptr);
  }
  return *this;
}

void Registration::reset() {
  if (region_ != nullptr) verbs_->dereg_mr(region_);
  region_ = nullptr;
}

// --- Making -----------------------------------------------------------------------------------------------

Result<std::unique_ptr<Plane>> Plane::create(const Verbs& verbs, const Plan& plan) {
  std::unique_ptr<Plane> made(new Plane(verbs, plan));
  if (::getrandom(&made->ring_secret_, sizeof made->ring_secret_, 0) != sizeof made->ring_secret_)
    return Status::from_errno("rdma: getrandom", errno);
  TF_RETURN_IF_ERROR(made->map());
  {
    const net::StandardDescriptorsTaken taken;
    made->channel_ = verbs.create_comp_channel(plan.context);
  }
  if (made->channel_ == nullptr) return Status::from_errno("rdma: a completion channel", errno);
  const int flags = ::fcntl(made->channel_->fd, F_GETFL);
  if (flags < 0 || ::fcntl(made->channel_->fd, F_SETFL, flags | O_NONBLOCK) != 0)
    return Status::from_errno("rdma: the completion channel's descriptor", errno);
  struct Wanted {
    ibv_cq*& queue;
    unsigned entries;
  };
  const std::array<Wanted, 3> wanted = {Wanted{made->arrivals_, kConsumerReceives + kSendDepth},
                                        Wanted{made->sends_, kSendDepth},
                                        Wanted{made->kicks_, kKickReceives}};
  for (const Wanted& each : wanted) {
    Result<ibv_cq*> queue = made->make_queue(each.entries);
    if (!queue) return queue.status();
    each.queue = *queue;
  }
  QueuePair::Plan pair{.pd = plan.pd,
                       .sends = made->sends_,
                       .receives = made->kicks_,
                       .receive_depth = kKickReceives,
                       .port = plan.port,
                       .inline_bytes = plan.inline_bytes};
  Result<std::unique_ptr<QueuePair>> out = QueuePair::create(verbs, pair);
  if (!out) return out.status();
  pair.sends = pair.receives = made->arrivals_;
  pair.receive_depth = kConsumerReceives;
  Result<std::unique_ptr<QueuePair>> in = QueuePair::create(verbs, pair);
  if (!in) return in.status();
  made->out_ = std::move(*out);
  made->in_ = std::move(*in);
  return made;
}

Status Plane::map() {
  const std::size_t ring = plan_.ring_bytes;
  if (!std::has_single_bit(ring) || ring < kPageBytes || ring / kLineBytes > kRingLinesMax)
    return {Code::kInvalidArgument, "rdma: a ring has 4 KiB to 1 MiB, a power of two"};
  Result<Pages> pages = Pages::map(2 * ring + 3 * kPageBytes);
  if (!pages) return pages.status();
  pages_ = std::move(*pages);
  const std::size_t part = ring + kPageBytes;
  const struct {
    Registration& target;
    std::size_t offset;
    std::size_t bytes;
    int access;
  } wanted[] = {{readable_, 0, part, IBV_ACCESS_REMOTE_READ},
                {writable_, part, part, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE},
                {scratch_, 2 * part, kPageBytes, IBV_ACCESS_LOCAL_WRITE}};
  for (const auto& each : wanted) {
    Result<Registration> made =
        Registration::make(verbs_, plan_.pd, pages_.memory().subspan(each.offset, each.bytes), each.access);
    if (!made) return made.status();
    each.target = std::move(*made);
  }
  return Status::ok();
}

Result<ibv_cq*> Plane::make_queue(unsigned entries) {
  ibv_cq* const made = verbs_.create_cq(plan_.context, static_cast<int>(entries), nullptr, channel_, 0);
  if (made == nullptr) return Status::from_errno("rdma: a completion queue", errno);
  return made;
}

Plane::~Plane() {
  destroy_queues();  // first, so that no device touches what is freed next
  for (ibv_cq* queue : {arrivals_, sends_, kicks_})
    if (queue != nullptr) verbs_.destroy_cq(queue);
  if (channel_ != nullptr) verbs_.destroy_comp_channel(channel_);
}

// --- Connecting -------------------------------------------------------------------------------------------

PlaneFacts Plane::facts() const {
  const std::size_t part = plan_.ring_bytes + kPageBytes;
  PlaneFacts facts;
  facts.out_number = out_->address().number;
  facts.out_packet = out_->address().first_packet;
  facts.in_number = in_->address().number;
  facts.in_packet = in_->address().first_packet;
  facts.readable_address = reinterpret_cast<std::uintptr_t>(pages_.memory().data());
  facts.writable_address = facts.readable_address + part;
  facts.readable_key = readable_.remote_key();
  facts.writable_key = writable_.remote_key();
  facts.ring_bytes = plan_.ring_bytes;
  facts.ring_secret = ring_secret_;
  return facts;
}

Status Plane::check_facts(const PlaneFacts& peer) const {
  const std::size_t part = plan_.ring_bytes + kPageBytes;
  if (peer.ring_bytes != plan_.ring_bytes)
    return {Code::kProtocol, "rdma: the peer's ring has " + std::to_string(peer.ring_bytes) + " bytes"};
  for (const std::uint32_t number : {peer.out_number, peer.out_packet, peer.in_number, peer.in_packet})
    if (number > kNumberMask) return {Code::kProtocol, "rdma: a queue pair's number of more than 24 bits"};
  for (const std::uint64_t address : {peer.readable_address, peer.writable_address})
    if (address % kLineBytes != 0 || address > UINT64_MAX - part)
      return {Code::kProtocol, "rdma: the peer's rings have impossible addresses"};
  return Status::ok();
}

Status Plane::connect(const Route& route, const PlaneFacts& peer) {
  const std::size_t ring = plan_.ring_bytes;
  std::byte* const base = pages_.memory().data();
  std::byte* const writable = base + ring + kPageBytes;
  std::byte* const scratch = writable + ring + kPageBytes;
  const ConsumerMemory in{.ring = {writable, ring},
                          .ring_key = writable_.local_key(),
                          .ring_secret = ring_secret_,
                          .fetched_line = scratch,
                          .word_sources = scratch + kLineBytes,
                          .scratch_key = scratch_.local_key(),
                          .mirror = {peer.readable_address, peer.readable_key},
                          .line = {peer.readable_address + ring, peer.readable_key},
                          .credit = {peer.writable_address + ring, peer.writable_key}};
  const ProducerMemory out{.mirror = {base, ring},
                           .mirror_key = readable_.local_key(),
                           .line = base + ring,
                           .credit = writable + ring,
                           .ring = {peer.writable_address, peer.writable_key},
                           .ring_secret = peer.ring_secret};
  consumer_.emplace(verbs_, Consumer::Queues{in_.get(), arrivals_}, in);
  producer_.emplace(verbs_, Producer::Queues{out_.get(), sends_, kicks_}, out, consumer_->progress());
  TF_RETURN_IF_ERROR(in_->connect(route, {peer.out_number, peer.out_packet}));
  return out_->connect(route, {peer.in_number, peer.in_packet});
}

void Plane::to_error() {
  out_->to_error();
  in_->to_error();
}

void Plane::destroy_queues() {
  out_.reset();
  in_.reset();
}

// --- Sleeping ---------------------------------------------------------------------------------------------

// Completions of sends that nobody waits for make an event only if they failed (by the specification, when
// asked for solicited events only): not every driver also flushes receives with an event.
Status Plane::arm() {
  const int failures_only = plan_.wake_for_sends ? 0 : 1;
  for (const auto& [queue, solicited] :
       {std::pair(arrivals_, 0), std::pair(kicks_, 0), std::pair(sends_, failures_only)})
    if (const int error = verbs_.req_notify_cq(queue, solicited); error != 0)
      return Status::from_errno("rdma: asking for events", error);
  return Status::ok();
}

Result<bool> Plane::take_events() {
  ibv_cq* queue = nullptr;
  void* user = nullptr;
  bool of_sends = false;
  while (verbs_.get_cq_event(channel_, &queue, &user) == 0) {
    of_sends = of_sends || queue == sends_;
    verbs_.ack_cq_events(queue, 1);
  }
  if (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR) return of_sends;
  return Status::from_errno("rdma: the completion channel", errno);
}

}  // namespace tf::rdma
