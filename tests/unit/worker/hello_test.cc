// SPDX-License-Identifier: Apache-2.0
// HELLO and the device snapshot: round trips, limits, and every kind of damaged bytes.
#include "hipcore/wire/hello.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include <chrono>
#include <cstring>
#include <random>
#include <thread>

#include "hipcore/wire/shared_files.h"
#include "transport/net/fd.h"
#include "transport/net/socket.h"

namespace tf::protocol {
namespace {

using namespace std::chrono_literals;

HelloRequest sample_request() {
  HelloRequest request;
  request.schema_hash = 0x1122334455667788;
  request.transport = "shm";
  request.token.bytes[3] = 7;
  request.capabilities = kClientIsFar;
  request.hip_major = 5;
  request.pid = 4711;
  request.program = "hello_hip";
  return request;
}

HelloReply sample_reply() {
  HelloReply reply;
  reply.transport = "tcp";
  reply.limits = "memory=8G";
  reply.streams_limited = true;
  reply.session_id = 12;
  reply.snapshot.runtime = "cpu";
  reply.snapshot.vmm_leases = 1;
  for (int index = 0; index < 2; ++index) {
    DeviceSnapshot device;
    device.properties.name = "device " + std::to_string(index);
    device.properties.gcn_arch_name = "gfx942:sramecc+:xnack-";
    device.properties.total_global_mem = 192ull << 30;
    device.properties.max_threads_dim = {1024, 1023, 1022};
    device.properties.arch = kArchDoubles | kArch3dGrid;
    device.properties.pageable_memory_access_uses_host_page_tables = 1;
    device.properties.uuid[15] = 0xee;
    device.window = {0x2000'0000'0000ull + index * (1ull << 40), 1ull << 40};
    device.attributes = {{5, 0, 2100000}, {10003, 1, 0}};
    device.limits = {{1, 0, 8ull << 20}};
    reply.snapshot.devices.push_back(device);
  }
  reply.snapshot.peers = {{}, {1, 2, 3, 4}, {1, 2, 3, 5}, {}};
  return reply;
}

template <typename Message>
std::vector<std::byte> bytes_of(const Message& reply) {
  Result<std::vector<std::byte>> bytes = encode(reply);
  EXPECT_TRUE(bytes.is_ok()) << bytes.status().to_string();
  return bytes.is_ok() ? *bytes : std::vector<std::byte>();
}

struct Pair {
  net::OwnedFd a;
  net::OwnedFd b;
};

Pair socket_pair() {
  int ends[2];
  EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends), 0);
  return {net::OwnedFd(ends[0]), net::OwnedFd(ends[1])};
}

TEST(Hello, RequestRoundTrip) {
  const HelloRequest sent = sample_request();
  Result<std::vector<std::byte>> bytes = encode(sent);
  ASSERT_TRUE(bytes.is_ok());
  Result<HelloRequest> got = decode_hello_request(*bytes);
  ASSERT_TRUE(got.is_ok()) << got.status().to_string();
  EXPECT_EQ(got->wire_version, kWireVersion);
  EXPECT_EQ(got->schema_hash, sent.schema_hash);
  EXPECT_EQ(got->transport, sent.transport);
  EXPECT_EQ(got->token, sent.token);
  EXPECT_EQ(got->capabilities, sent.capabilities);
  EXPECT_EQ(got->pid, sent.pid);
  EXPECT_EQ(got->program, sent.program);
}

TEST(Hello, ReplyRoundTripKeepsEveryField) {
  const HelloReply sent = sample_reply();
  Result<HelloReply> got = decode_hello_reply(bytes_of(sent));
  ASSERT_TRUE(got.is_ok()) << got.status().to_string();
  EXPECT_EQ(got->snapshot, sent.snapshot);
  EXPECT_EQ(got->session_id, 12u);
  EXPECT_EQ(got->limits, "memory=8G");
  EXPECT_TRUE(got->streams_limited);
  EXPECT_EQ(got->snapshot.peer(1, 0).array_access, 5);
  ASSERT_NE(got->snapshot.devices[0].attribute(5), nullptr);
  EXPECT_EQ(got->snapshot.devices[0].attribute(5)->value, 2100000);
  EXPECT_EQ(got->snapshot.devices[0].attribute(6), nullptr);
}

TEST(Hello, RefusesAZeroToken) {
  HelloRequest request = sample_request();
  request.token = {};
  EXPECT_EQ(decode_hello_request(bytes_of(request)).code(), Code::kProtocol);
}

TEST(Hello, RefusesTooLongStringsOnBothSides) {
  HelloRequest request = sample_request();
  request.program.assign(kProgramNameBytesMax + 1, 'x');
  EXPECT_FALSE(encode(request).is_ok());
}

TEST(Hello, EveryTruncationIsRefused) {
  const std::vector<std::byte> reply = bytes_of(sample_reply());
  for (std::size_t size = 0; size < reply.size(); ++size)
    ASSERT_EQ(decode_hello_reply(std::span(reply).first(size)).code(), Code::kProtocol) << size;
  const std::vector<std::byte> request = bytes_of(sample_request());
  for (std::size_t size = 0; size < request.size(); ++size)
    ASSERT_EQ(decode_hello_request(std::span(request).first(size)).code(), Code::kProtocol) << size;
}

TEST(Hello, TrailingBytesAreRefused) {
  std::vector<std::byte> request = bytes_of(sample_request());
  request.push_back(std::byte{0});
  EXPECT_EQ(decode_hello_request(request).code(), Code::kProtocol);
}

// Whatever the bytes say, decoding ends, and what is accepted is consistent.
TEST(Hello, DamagedBytesNeverBreakTheInvariants) {
  const std::vector<std::byte> original = bytes_of(sample_reply());
  std::mt19937 random(1);
  for (int round = 0; round < 20000; ++round) {
    std::vector<std::byte> damaged = original;
    for (unsigned change = 0; change <= random() % 4; ++change)
      damaged[random() % damaged.size()] = static_cast<std::byte>(random());
    Result<HelloReply> got = decode_hello_reply(damaged);
    if (!got) continue;
    const WorkerSnapshot& snapshot = got->snapshot;
    ASSERT_LE(snapshot.devices.size(), kDevicesMax);
    ASSERT_EQ(snapshot.peers.size(), snapshot.devices.size() * snapshot.devices.size());
    for (const DeviceSnapshot& device : snapshot.devices)
      ASSERT_GE(device.window.base + device.window.bytes, device.window.base);
  }
}

TEST(Hello, HugeCountsAllocateNothing) {
  std::vector<std::byte> bytes(64, std::byte{0xff});
  EXPECT_EQ(decode_hello_reply(bytes).code(), Code::kProtocol);
  EXPECT_EQ(decode_hello_request(bytes).code(), Code::kProtocol);
}

TEST(Hello, OverlappingOrWrappingWindowsAreRefused) {
  HelloReply reply = sample_reply();
  reply.snapshot.devices[1].window = reply.snapshot.devices[0].window;
  EXPECT_EQ(decode_hello_reply(bytes_of(reply)).code(), Code::kProtocol);
  reply = sample_reply();
  reply.snapshot.devices[1].window = {~0ull - 4096, 1ull << 20};
  EXPECT_EQ(decode_hello_reply(bytes_of(reply)).code(), Code::kProtocol);
  reply = sample_reply();
  reply.snapshot.peers.pop_back();
  EXPECT_EQ(decode_hello_reply(bytes_of(reply)).code(), Code::kProtocol);
}

TEST(Hello, AHostWindowIsWholeAndApart) {
  HelloReply reply = sample_reply();
  const AddressWindow window{0x1800'0000'0000ull, 1ull << 35};
  reply.snapshot.host_window = window;
  reply.snapshot.host_access = HostAccess::kMirrored;
  EXPECT_TRUE(decode_hello_reply(bytes_of(reply)).is_ok());
  const auto refused = [&](AddressWindow wrong, HostAccess access) {
    reply.snapshot.host_window = wrong;
    reply.snapshot.host_access = access;
    return decode_hello_reply(bytes_of(reply)).code() == Code::kProtocol;
  };
  EXPECT_TRUE(refused(window, HostAccess::kNone));
  EXPECT_TRUE(refused({}, HostAccess::kShared));
  EXPECT_TRUE(refused(window, static_cast<HostAccess>(3)));
  EXPECT_TRUE(refused({window.base + 4096, window.bytes}, HostAccess::kShared));
  EXPECT_TRUE(refused({window.base, window.bytes + 4096}, HostAccess::kShared));
  EXPECT_TRUE(refused(reply.snapshot.devices[0].window, HostAccess::kShared));
  reply.snapshot.reservations = {window.base + (1ull << 34), 1ull << 35};
  EXPECT_TRUE(refused(window, HostAccess::kShared));
}

WorkerSnapshot sharing_snapshot() {
  WorkerSnapshot snapshot = sample_reply().snapshot;
  snapshot.host_access = HostAccess::kShared;
  snapshot.device_access = DeviceAccess::kMapped;
  return snapshot;
}

TEST(Hello, ExactlyTheDescriptorsSpokenOfFollow) {
  Pair pair = socket_pair();
  const WorkerSnapshot both = sharing_snapshot();
  SharedFiles files;
  files.host_window = net::OwnedFd(::memfd_create("host", MFD_CLOEXEC));
  files.leases = net::OwnedFd(::memfd_create("leases", MFD_CLOEXEC));
  ASSERT_TRUE(send_shared_files(pair.b.get(), both, files, Deadline::after(5s)).is_ok());
  Result<SharedFiles> received = receive_shared_files(pair.a.get(), both, Deadline::after(5s));
  ASSERT_TRUE(received.is_ok()) << received.status().to_string();
  EXPECT_TRUE(received->host_window && received->leases);

  WorkerSnapshot one = both;
  one.device_access = DeviceAccess::kNone;
  ASSERT_TRUE(send_shared_files(pair.b.get(), one, files, Deadline::after(5s)).is_ok());
  EXPECT_EQ(receive_shared_files(pair.a.get(), both, Deadline::after(5s)).code(), Code::kProtocol);
  ASSERT_TRUE(send_shared_files(pair.b.get(), both, files, Deadline::after(5s)).is_ok());
  EXPECT_EQ(receive_shared_files(pair.a.get(), one, Deadline::after(5s)).code(), Code::kProtocol);
  const std::byte mark{1};
  ASSERT_TRUE(net::write_all(pair.b.get(), {&mark, 1}, Deadline::after(5s)).is_ok());
  EXPECT_EQ(receive_shared_files(pair.a.get(), one, Deadline::after(5s)).code(), Code::kProtocol);
  EXPECT_EQ(receive_shared_files(pair.a.get(), one, Deadline::after(20ms)).code(), Code::kTimeout);
  EXPECT_TRUE(receive_shared_files(pair.a.get(), sample_reply().snapshot, Deadline::now()).is_ok());
}

TEST(Hello, ALeaseFileIsThatOfItsLease) {
  Result<LeaseSocket> socket = make_lease_socket();
  ASSERT_TRUE(socket.is_ok()) << socket.status().to_string();
  const net::OwnedFd file(::memfd_create("lease", MFD_CLOEXEC));
  constexpr std::uint64_t kAddress = 0x2000'0000'0000;
  const int worker = socket->worker.get();
  ASSERT_TRUE(send_lease_file(worker, kAddress, file.get(), Deadline::after(5s)).is_ok());
  EXPECT_TRUE(receive_lease_file(socket->client.get(), kAddress, Deadline::after(5s)).is_ok());
  ASSERT_TRUE(send_lease_file(worker, kAddress, file.get(), Deadline::after(5s)).is_ok());
  EXPECT_EQ(receive_lease_file(socket->client.get(), kAddress + 4096, Deadline::after(5s)).code(),
            Code::kProtocol);
  ASSERT_TRUE(net::write_all(worker, std::as_bytes(std::span(&kAddress, 1)), Deadline::after(5s)).is_ok());
  EXPECT_EQ(receive_lease_file(socket->client.get(), kAddress, Deadline::after(5s)).code(), Code::kProtocol)
      << "no descriptor";
  socket->worker.reset();
  EXPECT_EQ(receive_lease_file(socket->client.get(), kAddress, Deadline::after(5s)).code(), Code::kPeerLost);
}

TEST(Hello, MappedLeasesNeedWindows) {
  HelloReply reply = sample_reply();
  reply.snapshot.device_access = DeviceAccess::kMapped;
  EXPECT_TRUE(decode_hello_reply(bytes_of(reply)).is_ok());
  reply.snapshot.device_access = static_cast<DeviceAccess>(2);
  EXPECT_FALSE(decode_hello_reply(bytes_of(reply)).is_ok());
  reply.snapshot.device_access = DeviceAccess::kMapped;
  reply.snapshot.vmm_leases = 0;
  for (DeviceSnapshot& device : reply.snapshot.devices) device.window = {};
  EXPECT_FALSE(decode_hello_reply(bytes_of(reply)).is_ok());
}

TEST(Hello, TravelsOverASocket) {
  Pair pair = socket_pair();
  std::thread worker([&] {
    Result<HelloRequest> request = receive_hello(pair.b.get(), Deadline::after(5s));
    ASSERT_TRUE(request.is_ok()) << request.status().to_string();
    EXPECT_EQ(request->program, "hello_hip");
    EXPECT_TRUE(send_hello_reply(pair.b.get(), sample_reply(), Deadline::after(5s)).is_ok());
  });
  EXPECT_TRUE(send_hello(pair.a.get(), sample_request(), Deadline::after(5s)).is_ok());
  Result<HelloReply> reply = receive_hello_reply(pair.a.get(), Deadline::after(5s));
  worker.join();
  ASSERT_TRUE(reply.is_ok()) << reply.status().to_string();
  EXPECT_EQ(reply->snapshot, sample_reply().snapshot);
}

TEST(Hello, OversizedAndForeignFramesAreRefusedBeforeTheirPayload) {
  for (const int variant : {0, 1, 2}) {
    Pair pair = socket_pair();
    FrameHeader header;
    header.opcode = variant == 0 ? 0x0300 : kOpHello;
    header.payload_length = variant == 1 ? kHelloBytesMax + 1 : 16;
    if (variant == 2) header.version = kWireVersion + 1;
    std::byte frame[kFrameHeaderBytes];
    write_header(header, frame);
    ASSERT_TRUE(net::write_all(pair.a.get(), frame, Deadline::after(1s)).is_ok());
    EXPECT_EQ(receive_hello(pair.b.get(), Deadline::after(1s)).code(), Code::kProtocol) << variant;
  }
}

TEST(Hello, ASilentPeerMeetsTheDeadline) {
  Pair pair = socket_pair();
  EXPECT_EQ(receive_hello(pair.b.get(), Deadline::after(20ms)).code(), Code::kTimeout);
}

}  // namespace
}  // namespace tf::protocol
