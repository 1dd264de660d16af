// SPDX-License-Identifier: Apache-2.0
// Asynchronous events of a device, as an endpoint takes them: which are its end, and which are none of its
// business. Taken they all are: one that stays makes every sleep end at once.
#include <string>
#include <vector>

#include "tests/support/peer.h"
#include "tests/unit/rdma/endpoints_fixture.h"

namespace tf::rdma {
namespace {

using test::Peer;

enum class Of : std::uint8_t { kDevice, kQueuePair };

struct Event {
  ibv_event_type type;
  Of of;
  Code end = Code::kOk;  // of the endpoint, if it is one
};

constexpr Event kEvents[] = {
    {IBV_EVENT_DEVICE_FATAL, Of::kDevice, Code::kInternal},
    {IBV_EVENT_CQ_ERR, Of::kQueuePair, Code::kInternal},
    {IBV_EVENT_QP_FATAL, Of::kQueuePair, Code::kPeerLost},
    {IBV_EVENT_QP_REQ_ERR, Of::kQueuePair, Code::kPeerLost},
    {IBV_EVENT_QP_ACCESS_ERR, Of::kQueuePair, Code::kPeerLost},
    {IBV_EVENT_COMM_EST, Of::kQueuePair},
    {IBV_EVENT_SQ_DRAINED, Of::kQueuePair},
    {IBV_EVENT_PATH_MIG, Of::kQueuePair},
    {IBV_EVENT_PATH_MIG_ERR, Of::kQueuePair},
    {IBV_EVENT_QP_LAST_WQE_REACHED, Of::kQueuePair},
    {IBV_EVENT_PORT_ACTIVE, Of::kDevice},
    {IBV_EVENT_PORT_ERR, Of::kDevice},
    {IBV_EVENT_LID_CHANGE, Of::kDevice},
    {IBV_EVENT_PKEY_CHANGE, Of::kDevice},
    {IBV_EVENT_GID_CHANGE, Of::kDevice},
    {IBV_EVENT_SM_CHANGE, Of::kDevice},
    {IBV_EVENT_CLIENT_REREGISTER, Of::kDevice},
};

class EndpointEvents : public EndpointsTest, public testing::WithParamInterface<Event> {
 protected:
  // A queue pair's failure counts at once.
  static Options impatient() {
    Options options;
    options.loss.socket = std::chrono::milliseconds(0);
    return options;
  }
  void SetUp() override { open(impatient(), impatient()); }

  void raise(const std::string& device) {
    if (GetParam().of == Of::kDevice)
      fabric_.raise(GetParam().type, device);
    else
      fabric_.raise(GetParam().type, fabric_.queue_pairs(device).front());
  }
  // What wait() says once the event has been taken; kTimeout: nothing. A sleeper finds it, or one who spins.
  Status take(Endpoint& endpoint, const std::string& device, Interest interest) {
    const Deadline deadline = Deadline::after(std::chrono::seconds(20));
    Status status(Code::kTimeout);
    while (status.code() == Code::kTimeout && fabric_.pending_events(device) != 0 && !deadline.passed())
      status = endpoint.wait(interest, Deadline::after(std::chrono::milliseconds(5)));
    if (status.code() == Code::kTimeout) status = endpoint.wait(interest, Deadline::now());
    return status;
  }
  void expect_ended(Endpoint& endpoint, const std::string& device) {
    const Status reason = endpoint.status();
    ASSERT_EQ(reason.code(), GetParam().end) << reason.to_string();
    EXPECT_NE(reason.message().find(device + ", port 1"), std::string::npos) << reason.to_string();
    const char* const event = fabric_.verbs()->event_type_str(GetParam().type);
    EXPECT_NE(reason.message().find(event), std::string::npos) << reason.to_string();
    BulkCompletion none;
    std::byte byte{};
    for (const Status& said : {endpoint.reserve(64).status(), endpoint.bulk().move_payload().status(),
                               endpoint.wait(Interest::kBoth, Deadline::now()),
                               endpoint.bulk().send(1, std::span(&byte, 1), none)})
      EXPECT_EQ(said.to_string(), reason.to_string());
  }
  static void expect_messages(std::unique_ptr<Endpoint> from, std::unique_ptr<Endpoint> to) {
    Peer sender(std::move(from)), receiver(std::move(to));
    const auto pass = [](Peer& one, Peer& other, std::uint32_t id) {
      ASSERT_TRUE(one.send(1, id).is_ok());
      Result<test::Message> message = other.receive();
      ASSERT_TRUE(message.is_ok()) << message.status().to_string();
      EXPECT_EQ(message->header.request_id, id);
    };
    pass(sender, receiver, 7);
    pass(receiver, sender, 8);
  }
};

TEST_P(EndpointEvents, EndItOrAreTakenAndForgotten) {
  for (const Interest interest : {Interest::kMessages, Interest::kBulk}) {
    for (const bool at_client : {true, false}) {
      const std::string device = at_client ? "fake0" : "fake1";
      Endpoint& endpoint = at_client ? *pair_.client : *pair_.server;
      raise(device);
      ASSERT_EQ(fabric_.pending_events(device), 1u);
      const Status said = take(endpoint, device, interest);
      EXPECT_EQ(fabric_.pending_events(device), 0u) << "whoever sleeps would spin";
      if (GetParam().end == Code::kOk) {
        EXPECT_EQ(said.code(), Code::kTimeout) << said.to_string();
        EXPECT_TRUE(endpoint.status().is_ok());
        expect_messages(std::move(pair_.client), std::move(pair_.server));
      } else {
        EXPECT_EQ(said.to_string(), endpoint.status().to_string());
        expect_ended(endpoint, device);
      }
      TearDown();
      SetUp();
    }
  }
}

// Also an end that never sleeps.
TEST_P(EndpointEvents, AreFoundByWhoPolls) {
  struct Nothing final : MessageSink {
    Status on_message(const FrameHeader&, std::span<const std::byte>) override { return Status::ok(); }
  } sink;
  for (const bool polls_messages : {true, false}) {
    raise("fake0");
    const Deadline deadline = Deadline::after(std::chrono::seconds(20));
    Endpoint& endpoint = *pair_.client;
    const auto poll = [&] {
      return (polls_messages ? endpoint.poll(sink, 1) : endpoint.bulk().move_payload()).status();
    };
    while (fabric_.pending_events("fake0") != 0 && !deadline.passed()) (void)poll();
    EXPECT_EQ(fabric_.pending_events("fake0"), 0u);
    EXPECT_EQ(poll().code(), GetParam().end);
    TearDown();
    SetUp();
  }
}

INSTANTIATE_TEST_SUITE_P(All, EndpointEvents, testing::ValuesIn(kEvents),
                         [](const testing::TestParamInfo<Event>& each) {
                           return std::to_string(static_cast<int>(each.param.type));
                         });

// The peer's device may fail at the same time as ours: one error, and both ends have it.
TEST_F(EndpointsTest, ADeviceThatFailsIsTheEndOfBoth) {
  fabric_.fail_device("fake1");
  Peer client(std::move(pair_.client)), worker(std::move(pair_.server));
  EXPECT_EQ(worker.until_failure(std::chrono::seconds(20)).code(), Code::kInternal);
  worker.close();
  EXPECT_EQ(client.until_failure(std::chrono::seconds(20)).code(), Code::kPeerLost);
  EXPECT_EQ(fabric_.pending_events("fake1"), 0u);
}

}  // namespace
}  // namespace tf::rdma
