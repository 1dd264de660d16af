// SPDX-License-Identifier: Apache-2.0
// Slots of the page by which session processes share processors.
#include "worker/supervisor/turn_table.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <utility>

namespace tf::worker {
namespace {

using runtime::TurnPage;

// What a session process sees.
TurnPage& map(const TurnTable& table) {
  void* const page =
      ::mmap(nullptr, sizeof(TurnPage), PROT_READ | PROT_WRITE, MAP_SHARED, table.file().get(), 0);
  EXPECT_NE(page, MAP_FAILED);
  return *static_cast<TurnPage*>(page);
}

TEST(TurnTableTest, ATableThatWasNotMadeHasNoSlots) {
  TurnTable none;
  EXPECT_FALSE(none.take().has_value());
}

TEST(TurnTableTest, HasASlotForEachProcess) {
  Result<TurnTable> table = TurnTable::make(2);
  ASSERT_TRUE(table.is_ok()) << table.status().to_string();
  for (std::uint32_t slot = 0; slot < runtime::kTurnSlots; ++slot) ASSERT_EQ(table->take(), slot);
  EXPECT_FALSE(table->take().has_value());
  table->give_back(17);
  EXPECT_EQ(table->take(), 17u);
}

TEST(TurnTableTest, ThereIsAlwaysASeatAndNeverMoreThanThePageHas) {
  for (const auto& [processors, seats] :
       {std::pair{0u, 1u}, {3u, 3u}, {runtime::kSeatsMax + 1, runtime::kSeatsMax}}) {
    Result<TurnTable> table = TurnTable::make(processors);
    ASSERT_TRUE(table.is_ok()) << table.status().to_string();
    TurnPage& page = map(*table);
    EXPECT_EQ(page.seats, seats);
    ::munmap(&page, sizeof page);
  }
}

TEST(TurnTableTest, WhoIsGoneIsForgotten) {
  Result<TurnTable> table = TurnTable::make(2);
  ASSERT_TRUE(table.is_ok()) << table.status().to_string();
  TurnPage& page = map(*table);
  EXPECT_EQ(page.seats, 2u);
  const std::uint32_t slot = table->take().value();
  page.running.insert(slot);
  page.waiting.insert(slot);
  page.slots[slot].used_ns = 5;
  page.slots[slot].threads = 2;
  EXPECT_TRUE(page.others_fill(slot + 1));
  table->give_back(slot);
  EXPECT_FALSE(page.running.has_others_than(slot + 1));
  EXPECT_FALSE(page.waiting.has_others_than(slot + 1));
  EXPECT_EQ(page.slots[slot].used_ns, 0u);
  EXPECT_EQ(page.slots[slot].threads, 0u);
  ::munmap(&page, sizeof page);
}

TEST(TurnTableTest, NoSessionCanShortenThePage) {
  Result<TurnTable> table = TurnTable::make(2);
  ASSERT_TRUE(table.is_ok()) << table.status().to_string();
  EXPECT_NE(::ftruncate(table->file().get(), 0), 0);
  EXPECT_NE(::fcntl(table->file().get(), F_ADD_SEALS, F_SEAL_WRITE), 0);
}

}  // namespace
}  // namespace tf::worker
