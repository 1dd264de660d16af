// SPDX-License-Identifier: Apache-2.0
// A transport that refuses everything, with the reason.
#include "transport/factory/absent.h"

#include <memory>
#include <string>

namespace tf {
namespace {

class Absent final : public net::Transport {
 public:
  Absent(std::string_view name, std::string_view why)
      : name_(name),
        refusal_(Code::kUnavailable,
                 "this build has no " + std::string(name) + " transport (" + std::string(why) + ")") {}

  std::string_view name() const override { return name_; }
  net::TransportKind kind() const override { return net::TransportKind::kControl; }
  Status available() const override { return refusal_; }
  Status reaches(const net::Address&) const override { return refusal_; }
  Result<std::unique_ptr<Endpoint>> connect(const net::Address&, const net::Lanes&, Deadline) const override {
    return refusal_;
  }
  std::unique_ptr<net::Acceptor> acceptor(const net::Lanes&) const override {
    return std::make_unique<Refusal>(refusal_);
  }

 private:
  class Refusal final : public net::Acceptor {
   public:
    explicit Refusal(Status status) : status_(std::move(status)) {}
    Status attach(net::OwnedFd, const net::Attach&) override { return status_; }
    Result<std::unique_ptr<Endpoint>> finish() override { return status_; }

   private:
    const Status status_;
  };

  const std::string_view name_;
  const Status refusal_;
};

}  // namespace

const net::Transport& absent_transport(std::string_view name, std::string_view why) {
  return *std::make_unique<Absent>(name, why).release();  // as the others: never destroyed
}

}  // namespace tf
