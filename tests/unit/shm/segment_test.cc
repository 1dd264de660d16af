// SPDX-License-Identifier: Apache-2.0
// Segments that a hostile or foreign worker offers.
#include "shm/segment.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>

#include "shm/huge_pages.h"

namespace tf::shm {
namespace {

constexpr int kSeals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;

// A file as a worker could make it: this size, this header, these seals.
net::OwnedFd make_file(std::size_t bytes, const SegmentHeader& header, int seals) {
  net::OwnedFd file(::memfd_create("hip-remote-segment-test", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  EXPECT_EQ(::ftruncate(file.get(), static_cast<off_t>(bytes)), 0);
  EXPECT_EQ(::pwrite(file.get(), &header, sizeof header, 0), static_cast<ssize_t>(sizeof header));
  EXPECT_EQ(::fcntl(file.get(), F_ADD_SEALS, seals), 0);
  return file;
}

Status open(const net::OwnedFd& file) { return Segment::open(file).status(); }

TEST(Segment, CreatedIsOpenedAndHasRings) {
  net::OwnedFd file;
  Result<Segment> made = Segment::create(file);
  ASSERT_TRUE(made.is_ok()) << made.status().to_string();
  Result<Segment> opened = Segment::open(file);
  ASSERT_TRUE(opened.is_ok()) << opened.status().to_string();
  Result<Rings> worker = made->rings(Side::kWorker);
  Result<Rings> client = opened->rings(Side::kClient);
  ASSERT_TRUE(worker.is_ok() && client.is_ok());
  RingProducer producer(client->messages_out);
  RingConsumer consumer(worker->messages_in);
  ASSERT_EQ(producer.reserve(50).size(), 50u);
  producer.publish();
  EXPECT_EQ(consumer.peek().size(), 50u);
}

// Whether or not the system gives huge pages.
TEST(Segment, HasItsPagesFromTheStart) {
  net::OwnedFd file;
  Result<Segment> made = Segment::create(file);
  ASSERT_TRUE(made.is_ok());
  struct stat facts {};
  ASSERT_EQ(::fstat(file.get(), &facts), 0);
  EXPECT_EQ(static_cast<std::size_t>(facts.st_blocks) * 512, kSegmentBytes);
}

TEST(HugePages, AreDescribed) {
  std::string name = "/tmp/hip-remote-huge-pages-XXXXXX";
  net::OwnedFd file(::mkostemp(name.data(), O_CLOEXEC));
  ASSERT_TRUE(file);
  EXPECT_EQ(describe_huge_pages(name.c_str()).substr(0, 2), "no") << "an empty file";
  for (const auto& [text, said] : {std::pair{"always within_size advise [never] deny force\n", "no"},
                                   {"always within_size [advise] never deny force\n", "yes (advise)"},
                                   {"[always] within_size advise never deny force\n", "yes (always)"},
                                   {"] odd [", "no"}}) {
    ASSERT_EQ(::ftruncate(file.get(), 0), 0);
    ASSERT_EQ(::pwrite(file.get(), text, std::strlen(text), 0), static_cast<ssize_t>(std::strlen(text)));
    EXPECT_EQ(describe_huge_pages(name.c_str()).rfind(said, 0), 0u) << text;
  }
  ::unlink(name.c_str());
  EXPECT_EQ(describe_huge_pages(name.c_str()).substr(0, 2), "no") << "no such file";
}

TEST(Segment, WrongSizesAreRefused) {
  for (const std::size_t bytes : {kPage, kSegmentBytes - 1, kSegmentBytes - kPage, kSegmentBytes + kPage}) {
    const Status status = open(make_file(bytes, {}, kSeals));
    EXPECT_EQ(status.code(), Code::kProtocol) << bytes << ": " << status.to_string();
  }
}

// Without the seals a worker could cut the file short under us: SIGBUS.
TEST(Segment, MissingSealsAreRefused) {
  for (const int seals : {0, F_SEAL_SHRINK, F_SEAL_GROW | F_SEAL_SEAL, F_SEAL_SHRINK | F_SEAL_GROW}) {
    const Status status = open(make_file(kSegmentBytes, {}, seals));
    EXPECT_EQ(status.code(), Code::kProtocol) << seals << ": " << status.to_string();
  }
  EXPECT_EQ(open(make_file(kSegmentBytes, {}, kSeals | F_SEAL_WRITE)).code(), Code::kProtocol);
}

TEST(Segment, WrongHeadersAreRefused) {
  SegmentHeader magic;
  magic.magic ^= 1;
  SegmentHeader version;
  version.version = kSegmentVersion + 1;
  SegmentHeader reserved;
  reserved.reserved = 1;
  SegmentHeader size;
  size.segment_bytes += kPage;
  SegmentHeader offset;
  offset.ring_offsets[3] = kSegmentBytes;
  for (const SegmentHeader& header : {magic, version, reserved, size, offset})
    EXPECT_EQ(open(make_file(kSegmentBytes, header, kSeals)).code(), Code::kProtocol);
}

TEST(Segment, RingsThatWereNeverMadeAreRefused) {
  Result<Segment> opened = Segment::open(make_file(kSegmentBytes, {}, kSeals));
  ASSERT_TRUE(opened.is_ok()) << opened.status().to_string();
  EXPECT_EQ(opened->rings(Side::kClient).code(), Code::kProtocol);
}

TEST(Segment, WhatIsNoMemoryFileIsRefused) {
  std::array<int, 2> pipe{};
  ASSERT_EQ(::pipe2(pipe.data(), O_CLOEXEC), 0);
  const net::OwnedFd reader(pipe[0]);
  const net::OwnedFd writer(pipe[1]);
  EXPECT_FALSE(open(reader).is_ok());
  EXPECT_FALSE(open(net::OwnedFd(::open("/dev/null", O_RDWR | O_CLOEXEC))).is_ok());
}

}  // namespace
}  // namespace tf::shm
