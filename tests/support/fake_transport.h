// SPDX-License-Identifier: Apache-2.0
// A transport that is there, or not, as a test wants it; nothing connects over it. Any thread.
#pragma once

#include <memory>
#include <string_view>
#include <utility>

#include "transport/net/transport.h"

namespace tf::test {

class FakeTransport final : public net::Transport {
 public:
  explicit FakeTransport(std::string_view name, Status available = Status::ok(),
                         Status reaches = Status::ok())
      : name_(name), available_(std::move(available)), reaches_(std::move(reaches)) {}

  std::string_view name() const override { return name_; }
  net::TransportKind kind() const override { return net::TransportKind{net::kTransportKindMax}; }
  Status available() const override { return available_; }
  Status reaches(const net::Address&) const override { return reaches_; }
  Result<std::unique_ptr<Endpoint>> connect(const net::Address&, const net::Lanes&, Deadline) const override {
    return Status(Code::kUnavailable, "a fake transport");
  }
  std::unique_ptr<net::Acceptor> acceptor(const net::Lanes&) const override { return nullptr; }

 private:
  const std::string_view name_;
  const Status available_;
  const Status reaches_;
};

}  // namespace tf::test
