// SPDX-License-Identifier: Apache-2.0
// What is found of writes to memory, watched by the kernel and compared.
#include "hipcore/mirror/changes.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <thread>
#include <vector>

namespace tf::mirror {
namespace {

constexpr std::uint64_t kPages = 600;  // more than a huge page has
constexpr std::uint64_t kBytes = kPages * kPageBytes;
using Use = WrittenPages::Use;
using Start = Changes::Start;

// Every test runs with what the kernel offers, and as if it offered nothing.
class ChangesTest : public ::testing::TestWithParam<Use> {
 protected:
  ChangesTest() : pages_(GetParam()) {
    constexpr int kFlags = MAP_PRIVATE | MAP_ANONYMOUS;
    memory_ = static_cast<char*>(::mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, kFlags, -1, 0));
    EXPECT_NE(memory_, MAP_FAILED);
  }
  ~ChangesTest() override {
    changes_.reset();
    ::munmap(memory_, kBytes);
  }
  std::uint64_t at(std::uint64_t page) const {
    return reinterpret_cast<std::uint64_t>(memory_) + page * kPageBytes;
  }
  Piece pages(std::uint64_t first, std::uint64_t count) const { return {at(first), count * kPageBytes}; }
  Changes& watch(const Piece& range, Changes::Options options = {Start::kUnknown, true}) {
    changes_.reset();
    return changes_.emplace(pages_, range, options);
  }
  std::vector<Piece> take(const Piece& part, bool settled = true) {
    std::vector<Piece> found;
    changes_->take(part, settled, found);
    return found;
  }
  std::vector<Piece> take() { return take(changes_->range()); }
  std::vector<Piece> none() const { return {}; }

  WrittenPages pages_;
  char* memory_ = nullptr;
  std::optional<Changes> changes_;
};

TEST_P(ChangesTest, OnlyWhatWasWrittenIsFound) {
  watch({at(0), kBytes});
  static_cast<void>(take());
  EXPECT_EQ(take(), none());
  memory_[5 * kPageBytes + 17] = 1;
  memory_[7 * kPageBytes] = 1;
  memory_[8 * kPageBytes - 1] = 1;
  memory_[8 * kPageBytes] = 1;
  EXPECT_EQ(take(), (std::vector{pages(5, 1), pages(7, 2)}));
  EXPECT_EQ(take(), none());
  EXPECT_EQ(memory_[3 * kPageBytes], 0) << "reading is not writing";
  EXPECT_EQ(take(), none());
}

// What a device may write while it travels: what counts is what has travelled.
TEST_P(ChangesTest, WhatHasTravelledIsFoundAgainOnlyIfItDiffers) {
  Changes& changes = watch({at(0) + 100, 10 * kPageBytes}, {Start::kUnknown, true, false});
  std::memset(memory_, 7, kBytes);
  const std::vector<Piece> all = take(changes.range(), false);
  ASSERT_EQ(all, (std::vector{changes.range()}));
  EXPECT_EQ(take(changes.range(), false), all) << "nobody has said what has travelled";
  const std::vector<std::byte> sent(changes.range().bytes, std::byte{7});
  changes.agree_on(changes.range(), sent.data());
  EXPECT_EQ(take(changes.range(), false), none());
  memory_[5 * kPageBytes + 100] = 8;
  const std::vector<Piece> one{{at(5) + 100, kPageBytes}};
  EXPECT_EQ(take(changes.range(), false), one);
  memory_[5 * kPageBytes + 100] = 9;  // since it has been copied
  std::vector<std::byte> page(kPageBytes, std::byte{7});
  page[0] = std::byte{8};
  changes.agree_on(one.front(), page.data());
  EXPECT_EQ(take(changes.range(), false), one);
  page[0] = std::byte{9};
  changes.agree_on({one.front().address, kPageBytes - 1}, page.data());
  EXPECT_EQ(take(changes.range(), false), one) << "of a block in part nothing is known";
  changes.agree_on(one.front(), page.data());
  EXPECT_EQ(take(changes.range(), false), none());
}

TEST_P(ChangesTest, AtFirstAllThatHasContentIsFound) {
  std::memset(memory_ + 20 * kPageBytes, 3, 10 * kPageBytes);
  std::memset(memory_ + 40 * kPageBytes, 0, kPageBytes);  // the other side may have anything there
  watch({at(0), kBytes});
  const auto found = take();
  for (const Piece& content : {pages(20, 10), pages(40, 1)}) {
    std::uint64_t covered = 0;
    for (const Piece& piece : found) covered += common(piece, content).bytes;
    EXPECT_EQ(covered, content.bytes);
  }
  if (changes_->is_watched()) {
    EXPECT_EQ(total(found), 11 * kPageBytes) << "pages that nobody has touched stay where they are";
  }
  EXPECT_EQ(take(), none());
}

TEST_P(ChangesTest, BothSidesBeginAlike) {
  watch({at(0), kBytes}, {Start::kSame, true});
  EXPECT_EQ(take(), none());
  memory_[kBytes - 1] = 1;
  EXPECT_EQ(take(), std::vector{pages(kPages - 1, 1)});
}

TEST_P(ChangesTest, WhatHasArrivedIsNoChange) {
  watch({at(0), kBytes}, {Start::kSame, true});
  std::memset(memory_ + 10 * kPageBytes, 9, 3 * kPageBytes);
  memory_[20 * kPageBytes] = 1;
  changes_->agree(pages(10, 3));
  EXPECT_EQ(take(), std::vector{pages(20, 1)});
  memory_[11 * kPageBytes] = 8;
  EXPECT_EQ(take(), std::vector{pages(11, 1)});
}

TEST_P(ChangesTest, APartIsTakenAlone) {
  watch({at(0), kBytes}, {Start::kSame, true});
  memory_[10 * kPageBytes] = 1;
  memory_[50 * kPageBytes] = 1;
  EXPECT_EQ(take({at(50) + 100, 8}), std::vector{pages(50, 1)});
  EXPECT_EQ(take({at(kPages) + 100, 8}), none());
  EXPECT_EQ(take(), std::vector{pages(10, 1)});
}

// Others write to the first and to the last page of such a range.
TEST_P(ChangesTest, NothingBeyondTheRangeIsFound) {
  const Piece range{at(1) + 1000, 100 * kPageBytes};
  watch(range, {Start::kSame, false});
  std::memset(memory_, 5, kBytes);
  EXPECT_EQ(take(), std::vector{range});
  memory_[1 * kPageBytes + 999] = 6;
  memory_[101 * kPageBytes + 1000] = 6;
  EXPECT_EQ(take(), none());
  memory_[1 * kPageBytes + 1000] = 6;
  memory_[101 * kPageBytes + 999] = 6;
  const auto found = take();
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].address, range.address);
  EXPECT_EQ(found[1].end(), range.end());
  EXPECT_LE(total(found), 2 * kPageBytes);
}

TEST_P(ChangesTest, TwoRangesShareAPage) {
  Changes other(pages_, {at(200) + 100, 100 * kPageBytes}, {Start::kSame, false});
  watch({at(100) + 100, 100 * kPageBytes}, {Start::kSame, false});
  memory_[200 * kPageBytes + 99] = 1;
  memory_[200 * kPageBytes + 100] = 1;
  EXPECT_EQ(take().size(), 1u);
  std::vector<Piece> found;
  other.take(other.range(), true, found);
  EXPECT_EQ(found.size(), 1u);
}

TEST_P(ChangesTest, SystemCallsAndThreadsWriteToo) {
  watch({at(0), kBytes}, {Start::kSame, true});
  int ends[2] = {};
  ASSERT_EQ(::pipe(ends), 0);
  ASSERT_EQ(::write(ends[1], "abc", 3), 3);
  ASSERT_EQ(::read(ends[0], memory_ + 30 * kPageBytes + 5, 3), 3);
  ::close(ends[0]);
  ::close(ends[1]);
  std::thread([this] { memory_[33 * kPageBytes] = 1; }).join();
  EXPECT_EQ(take(), (std::vector{pages(30, 1), pages(33, 1)}));
}

TEST_P(ChangesTest, AChildsWritesAreItsOwn) {
  watch({at(0), kBytes}, {Start::kSame, true});
  memory_[3 * kPageBytes] = 1;
  const pid_t child = ::fork();
  if (child == 0) {
    memory_[9 * kPageBytes] = 1;
    ::_exit(memory_[3 * kPageBytes] == 1 ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  memory_[12 * kPageBytes] = 1;
  EXPECT_EQ(take(), (std::vector{pages(3, 1), pages(12, 1)}));
}

TEST_P(ChangesTest, ManySinglePages) {
  watch({at(0), kBytes}, {Start::kSame, true});
  for (std::uint64_t page = 0; page < kPages; page += 2) memory_[page * kPageBytes] = 1;
  EXPECT_EQ(take().size(), kPages / 2) << "more than one system call tells";
  EXPECT_EQ(take(), none());
}

TEST_P(ChangesTest, SmallRangesAreCompared) {
  watch({at(0) + 8, 100}, {Start::kUnknown, false});
  EXPECT_FALSE(changes_->is_watched());
  EXPECT_EQ(take(), std::vector{changes_->range()}) << "what the other side has is not known";
  EXPECT_EQ(take(), none());
  memory_[10] = 1;
  EXPECT_EQ(take(), std::vector{changes_->range()});
}

// A device may write on while the memory travels.
TEST_P(ChangesTest, WhatIsNotSettledIsFoundAgain) {
  watch({at(0), 4 * kPageBytes}, {Start::kSame, true, false});
  memory_[kPageBytes] = 1;
  EXPECT_EQ(take(changes_->range(), false), std::vector{pages(1, 1)});
  EXPECT_EQ(take(changes_->range(), false), std::vector{pages(1, 1)});
  EXPECT_EQ(take(), std::vector{pages(1, 1)});
  EXPECT_EQ(take(), none());
}

// Bytes of the other side, one piece after another.
TEST_P(ChangesTest, WhatArrivesHidesNothing) {
  watch({at(0), kBytes}, {Start::kSame, true});
  memory_[10 * kPageBytes + 8] = 1;  // before: the other side has not got it
  const char bytes[] = {7, 7, 7, 7, 8, 8, 9};
  const std::vector<Piece> pieces = {{at(10), 4}, {at(10) + 100, 2}, {at(20) + 5, 1}};
  changes_->put(pieces, reinterpret_cast<const std::byte*>(bytes));
  EXPECT_EQ(memory_[10 * kPageBytes + 3], 7);
  EXPECT_EQ(memory_[10 * kPageBytes + 8], 1);
  EXPECT_EQ(memory_[10 * kPageBytes + 101], 8);
  EXPECT_EQ(memory_[20 * kPageBytes + 5], 9);
  EXPECT_EQ(take(), std::vector{pages(10, 1)}) << "page 20 is the same on both sides";
  memory_[20 * kPageBytes + 6] = 1;
  EXPECT_EQ(take(), std::vector{pages(20, 1)});
}

TEST_P(ChangesTest, PiecesArriveInAnyOrder) {
  watch({at(0), kBytes}, {Start::kSame, true});
  const char bytes[] = {1, 2, 3, 4};
  const std::vector<Piece> pieces = {{at(10) + 9, 1}, {at(10) + 1, 1}, {at(10) + 5, 1}, {at(0) + 1, 1}};
  changes_->put(pieces, reinterpret_cast<const std::byte*>(bytes));
  EXPECT_EQ(memory_[10 * kPageBytes + 9], 1);
  EXPECT_EQ(memory_[10 * kPageBytes + 1], 2);
  EXPECT_EQ(memory_[10 * kPageBytes + 5], 3);
  EXPECT_EQ(memory_[1], 4);
  EXPECT_EQ(take(), none());
}

// A thread, in the place of running work, counts in one word while others arrive beside it.
TEST_P(ChangesTest, NothingThatIsWrittenMeanwhileIsLost) {
  constexpr int kRounds = 2000;
  watch({at(0), kBytes}, {Start::kSame, true});
  std::atomic_ref<int> work(*reinterpret_cast<int*>(memory_ + 64));
  std::thread thread([&] {
    for (int round = 1; round <= kRounds; ++round) work.store(round);
  });
  int last = 0;
  std::vector<Piece> found;
  for (int round = 0; last < kRounds; ++round) {
    const Piece piece{at(0) + 60, sizeof round};
    changes_->put(std::span(&piece, 1), reinterpret_cast<const std::byte*>(&round));
    found.clear();
    const bool ended = work.load() == kRounds;
    changes_->take(changes_->range(), false, found);
    if (!found.empty()) last = work.load();
    if (ended) break;
  }
  thread.join();
  EXPECT_EQ(last, kRounds);
}

TEST_P(ChangesTest, PagesThatWereThrownAwayHaveChanged) {
  watch({at(0), kBytes}, {Start::kSame, true});
  std::memset(memory_ + 10 * kPageBytes, 1, kPageBytes);
  EXPECT_EQ(take(), std::vector{pages(10, 1)});
  ASSERT_EQ(::madvise(memory_ + 10 * kPageBytes, kPageBytes, MADV_DONTNEED), 0);
  EXPECT_EQ(take(), std::vector{pages(10, 1)});
}

INSTANTIATE_TEST_SUITE_P(Kernel, ChangesTest, ::testing::Values(Use::kIfItWorks, Use::kNever),
                         [](const auto& tested) {
                           return tested.param == Use::kNever ? "Compared" : "Watched";
                         });

class TwinTest : public ::testing::Test {
 protected:
  std::uint64_t at(std::uint64_t offset) const { return reinterpret_cast<std::uint64_t>(memory_) + offset; }
  Changes exact(const Piece& range, Start start = Start::kSame) {
    return Changes(pages_, range, {start, false, true, true});
  }
  static std::vector<Piece> take(Changes& changes) {
    std::vector<Piece> found;
    changes.take(changes.range(), true, found);
    return found;
  }
  static void put(Changes& changes, const Piece& piece, const std::vector<char>& bytes) {
    changes.put(std::span(&piece, 1), reinterpret_cast<const std::byte*>(bytes.data()));
  }

  WrittenPages pages_;
  alignas(kPageBytes) char memory_[3 * kPageBytes] = {};
};

TEST_F(TwinTest, WordsAreFound) {
  Changes changes = exact({at(1), 2 * kPageBytes});
  EXPECT_EQ(take(changes), std::vector<Piece>{});
  memory_[1] = 1;
  memory_[18] = 1;
  memory_[21] = 1;
  memory_[kPageBytes + 40] = 1;
  memory_[2 * kPageBytes] = 1;
  EXPECT_EQ(take(changes),
            (std::vector<Piece>{{at(1), 3}, {at(16), 8}, {at(kPageBytes + 40), 4}, {at(2 * kPageBytes), 1}}));
  EXPECT_EQ(take(changes), std::vector<Piece>{});
}

TEST_F(TwinTest, WhatTravelsIsWhatWasFound) {
  Changes changes = exact({at(0), 64}, Start::kUnknown);
  memory_[8] = 1;
  const std::vector<Piece> found = take(changes);
  EXPECT_EQ(found, (std::vector<Piece>{{at(0), 64}}));
  memory_[8] = 2;
  EXPECT_EQ(changes.source(found[0]).memory()[8], std::byte{1});
  EXPECT_EQ(take(changes), (std::vector<Piece>{{at(8), 4}})) << "the later value travels later";
}

TEST_F(TwinTest, BothSidesChangeOneWord) {
  Changes changes = exact({at(3), 61});
  memory_[17] = 1;  // this side's
  std::vector<char> page(61);
  page[15] = 5;  // at 18, the other side's
  page[60] = 6;  // at 63
  put(changes, {at(3), 61}, page);
  EXPECT_EQ(memory_[17], 1);
  EXPECT_EQ(memory_[18], 5);
  EXPECT_EQ(memory_[63], 6);
  EXPECT_EQ(take(changes), (std::vector<Piece>{{at(16), 4}}));
  page[14] = 1;
  put(changes, {at(3), 61}, page);
  EXPECT_EQ(take(changes), std::vector<Piece>{});
}

// The ends of a large range have twins, its pages are watched or compared.
TEST_F(TwinTest, EndsOfALargeRange) {
  std::vector<char> memory(100 * kPageBytes);
  const Piece range{page_up(reinterpret_cast<std::uint64_t>(memory.data())) + 8, 90 * kPageBytes};
  Changes changes = exact(range);
  char* const bytes = reinterpret_cast<char*>(range.address);
  bytes[0] = 1;
  bytes[50 * kPageBytes] = 1;
  bytes[90 * kPageBytes - 1] = 1;
  EXPECT_LE(total(take(changes)), 4 + 4096 + 4u);
  std::vector<char> other(bytes, bytes + range.bytes);
  bytes[1] = 1;
  other[2] = 2;
  other[70 * kPageBytes] = 2;
  other[90 * kPageBytes - 2] = 2;
  put(changes, range, other);
  EXPECT_EQ(bytes[1], 1);
  EXPECT_EQ(bytes[2], 2);
  EXPECT_EQ(bytes[70 * kPageBytes], 2);
  EXPECT_EQ(bytes[90 * kPageBytes - 2], 2);
  EXPECT_EQ(take(changes), (std::vector<Piece>{{range.address, 4}}));
  std::memset(bytes, 9, range.bytes);
  changes.agree(range);
  EXPECT_EQ(take(changes), std::vector<Piece>{}) << "what has arrived does not go back";
}

// Memory that the kernel cannot watch is compared; that of shared mappings, others write too.
TEST(WrittenPagesTest, RefusesWhatItCannotWatch) {
  WrittenPages pages;
  EXPECT_FALSE(pages.watch({0, kPageBytes})) << "there is no memory";
  WrittenPages none(Use::kNever);
  EXPECT_FALSE(none.can_watch());
  EXPECT_FALSE(none.watch({kPageBytes, kPageBytes}));
}

}  // namespace
}  // namespace tf::mirror
