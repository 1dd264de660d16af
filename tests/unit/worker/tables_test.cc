// SPDX-License-Identifier: Apache-2.0
// Object table and address map: what a hostile client may and may not name.
#include <gtest/gtest.h>

#include "worker/base/address_map.h"
#include "worker/base/object_table.h"

namespace tf::worker {
namespace {

using protocol::Handle;
using protocol::HandleKind;

void* pointer(std::uintptr_t value) { return reinterpret_cast<void*>(value); }

TEST(ObjectTable, FindsOnlyTheExactHandle) {
  ObjectTable table;
  const Handle handle(HandleKind::kStream, 3, 17);
  ASSERT_TRUE(table.bind(HandleKind::kStream, handle.raw(), {pointer(0x10), 1}));
  ASSERT_NE(table.find(HandleKind::kStream, handle.raw()), nullptr);
  EXPECT_EQ(table.find(HandleKind::kStream, handle.raw())->object, pointer(0x10));
  EXPECT_EQ(table.find(HandleKind::kEvent, handle.raw()), nullptr);
  EXPECT_EQ(table.find(HandleKind::kStream, Handle(HandleKind::kStream, 4, 17).raw()), nullptr);
  EXPECT_EQ(table.find(HandleKind::kStream, Handle(HandleKind::kStream, 3, 18).raw()), nullptr);
  EXPECT_EQ(table.find(HandleKind::kEvent, Handle(HandleKind::kEvent, 3, 17).raw()), nullptr);
}

TEST(ObjectTable, RefusesMalformedHandles) {
  ObjectTable table;
  EXPECT_FALSE(table.bind(HandleKind::kStream, 0, {}));
  EXPECT_FALSE(table.bind(HandleKind::kStream, 2, {}));
  EXPECT_FALSE(table.bind(HandleKind::kStream, Handle(HandleKind::kEvent, 0, 0).raw(), {}));
  EXPECT_FALSE(table.bind(HandleKind::kStream, std::uint64_t{1} << 56, {}));  // slot 0: index wraps
  EXPECT_FALSE(
      table.bind(HandleKind::kStream, Handle(HandleKind::kStream, 0, protocol::kHandleSlotsMax).raw(), {}));
  EXPECT_EQ(table.find(HandleKind::kStream, ~0ull), nullptr);
}

TEST(ObjectTable, ASlotIsReusableOnlyAfterUnbind) {
  ObjectTable table;
  const std::uint64_t first = Handle(HandleKind::kEvent, 1, 0).raw();
  const std::uint64_t second = Handle(HandleKind::kEvent, 2, 0).raw();
  ASSERT_TRUE(table.bind(HandleKind::kEvent, first, {pointer(1), 0}));
  EXPECT_FALSE(table.bind(HandleKind::kEvent, second, {pointer(2), 0}));
  Object object;
  ASSERT_TRUE(table.unbind(HandleKind::kEvent, first, object));
  EXPECT_EQ(object.object, pointer(1));
  EXPECT_FALSE(table.unbind(HandleKind::kEvent, first, object));
  EXPECT_TRUE(table.bind(HandleKind::kEvent, second, {pointer(2), 0}));
  EXPECT_EQ(table.find(HandleKind::kEvent, first), nullptr);
  EXPECT_EQ(table.count(HandleKind::kEvent), 1u);
}

TEST(AddressMap, FindsSpansInsideOneRangeOnly) {
  AddressMap map;
  ASSERT_TRUE(map.add(0x1000, 0x1000, 0));
  ASSERT_TRUE(map.add(0x2000, 0x1000, 1));
  EXPECT_NE(map.find(0x1000, 0x1000), nullptr);
  EXPECT_EQ(map.find(0x1800, 0x1000), nullptr);  // would run from one range into the next
  EXPECT_EQ(map.find(0xfff, 1), nullptr);
  EXPECT_EQ(map.find(0x3000, 1), nullptr);
  EXPECT_EQ(map.find(0x2fff, ~0ull), nullptr);
  ASSERT_NE(map.find(0x2000, 1), nullptr);
  EXPECT_EQ(map.find(0x2000, 1)->device, 1);
}

TEST(AddressMap, MappingsJoinTheirNeighbours) {
  AddressMap map;
  using Edge = AddressMap::Edge;
  ASSERT_TRUE(map.add(0x1000, 0x1000, 0, Edge::kJoins));
  ASSERT_TRUE(map.add(0x2000, 0x1000, 0, Edge::kJoins));
  ASSERT_TRUE(map.add(0x3000, 0x1000, 0));
  ASSERT_TRUE(map.add(0x5000, 0x1000, 0, Edge::kJoins));
  EXPECT_NE(map.find(0x1800, 0x1800), nullptr);
  EXPECT_EQ(map.find(0x1800, 0x1801), nullptr);  // what follows is granted separately
  EXPECT_EQ(map.find(0x3800, 0x1000), nullptr);
  EXPECT_EQ(map.find(0x5800, 0x1000), nullptr);
  EXPECT_EQ(map.find(0x1000, ~0ull), nullptr);
  EXPECT_TRUE(map.holds_box(0x1000, 0x1000, 0, 0x800, 2, 1));
  ASSERT_TRUE(map.remove(0x2000));
  EXPECT_EQ(map.find(0x1800, 0x1000), nullptr);
}

TEST(AddressMap, RefusesOverlapsWrapsAndNothing) {
  AddressMap map;
  ASSERT_TRUE(map.add(0x1000, 0x1000, 0));
  EXPECT_FALSE(map.add(0x1000, 0x10, 0));
  EXPECT_FALSE(map.add(0xff0, 0x20, 0));
  EXPECT_FALSE(map.add(0x1fff, 0x20, 0));
  EXPECT_FALSE(map.add(0x5000, 0, 0));
  EXPECT_FALSE(map.add(~0ull - 4, 16, 0));
  EXPECT_TRUE(map.remove(0x1000));
  EXPECT_FALSE(map.remove(0x1000));
}

TEST(AddressMap, BoxesCountTheirWholeExtent) {
  AddressMap map;
  ASSERT_TRUE(map.add(0x1000, 0x1000, 0));
  EXPECT_TRUE(map.holds_box(0x1000, 0x100, 0x1000, 0x80, 16, 1));
  EXPECT_FALSE(map.holds_box(0x1000, 0x100, 0x1000, 0x80, 17, 1));
  EXPECT_FALSE(map.holds_box(0x1000, 0x100, 0x1000, 0x80, 16, 2));
  EXPECT_TRUE(map.holds_box(0x1000, 0x100, 0x800, 0x80, 8, 2));
  EXPECT_FALSE(map.holds_box(0x1000, 0x40, 0x800, 0x80, 2, 1));  // rows overlap
  EXPECT_FALSE(map.holds_box(0x1000, ~0ull, 1, 1, 3, 1));        // wraps
  EXPECT_FALSE(map.holds_box(0x1000, 1, ~0ull / 2, 1, 1, 5));
  EXPECT_FALSE(map.holds_box(0x1000, 1, 0, 1, 1, std::uint64_t{1} << 62));  // slices overlap
  EXPECT_FALSE(map.holds_box(0x1000, 0x100, 0x17f, 0x80, 2, 2));
  EXPECT_TRUE(map.holds_box(0x1000, 0x100, 0x180, 0x80, 2, 2));
  EXPECT_TRUE(map.holds_box(0, 0, 0, 0, 7, 7));  // nothing is nowhere
}

}  // namespace
}  // namespace tf::worker
