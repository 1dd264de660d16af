// SPDX-License-Identifier: Apache-2.0
// Holds the place of the transport in a build without it, so that asking for it gives a reason.
#include <memory>

#include "transport/factory/rdma_transport.h"

namespace tf {
namespace {

class NoRdma final : public net::Transport {
 public:
  std::string_view name() const override { return "rdma"; }
  Status available() const override {
    return {Code::kUnavailable, "this build has no rdma transport (it needs <infiniband/verbs.h>)"};
  }
  Status reaches(const net::Address&) const override { return available(); }
  Result<std::unique_ptr<Endpoint>> connect(const net::Address&, const net::Token&, Deadline) const override {
    return available();
  }
  std::unique_ptr<net::Acceptor> acceptor(const net::Token&) const override {
    return std::make_unique<Refusal>();
  }

 private:
  class Refusal final : public net::Acceptor {
   public:
    Status attach(net::OwnedFd, const net::Attach&) override { return NoRdma().available(); }
    Result<std::unique_ptr<Endpoint>> finish() override { return NoRdma().available(); }
  };
};

}  // namespace

const net::Transport& rdma_transport() {
  static const NoRdma& instance = *new NoRdma;
  return instance;
}

}  // namespace tf
