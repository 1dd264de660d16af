// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/proxy/fake_worker.h"

#include <hip/hip_runtime_api.h>
#include <poll.h>

#include <chrono>
#include <cstring>
#include <string>

#include "hipcore/wire/control_message.h"
#include "hipcore/wire/rtc_program.h"
#include "transport/base/mutex.h"

namespace tf::proxy {
namespace {

using protocol::Op;

template <typename Message>
Message as(std::span<const std::byte> payload) {
  Message message;
  std::memcpy(&message, payload.data(), sizeof message);
  return message;
}

std::span<std::byte> device(std::uint64_t address, std::uint64_t bytes) {
  return {reinterpret_cast<std::byte*>(address), bytes};
}

template <typename T>
std::span<const std::byte> bytes_of(const T& value) {
  return std::as_bytes(std::span(&value, 1));
}

}  // namespace

protocol::WorkerSnapshot fake_snapshot(std::uint64_t memory_bytes) {
  protocol::WorkerSnapshot snapshot;
  snapshot.runtime = "fake";
  snapshot.devices.resize(1);
  snapshot.peers.resize(1);
  protocol::DeviceSnapshot& device = snapshot.devices[0];
  device.total_memory = device.free_memory = memory_bytes;
  device.lease_granularity_bytes = 1 << 16;
  device.properties.gcn_arch_name = "x86_64-cpu";
  device.properties.max_threads_dim = {1024, 1024, 1024};
  device.properties.max_threads_per_block = 1024;
  device.properties.shared_mem_per_block = 65536;
  return snapshot;
}

FakeWorker::FakeWorker(std::unique_ptr<Endpoint> endpoint, std::uint64_t memory_bytes, net::OwnedFd control)
    : endpoint_(std::move(endpoint)),
      control_(std::move(control)),
      memory_bytes_(memory_bytes),
      memory_left_(memory_bytes),
      thread_([this] { run(); }) {}

FakeWorker::~FakeWorker() { die(); }

void FakeWorker::die() {
  stop_ = true;
  if (thread_.joinable()) thread_.join();
  endpoint_.reset();  // what the other side sees of a death
}

std::vector<std::byte> FakeWorker::last_arguments() {
  const MutexLock lock(mutex_);
  return arguments_;
}

void FakeWorker::run() {
  while (!stop_) {
    auto delivered = endpoint_->poll(*this, 16);
    if (!delivered || !endpoint_->bulk().move_payload()) return;
    if (control_) read_control();
    while (!steps_.empty() && steps_.front()()) steps_.pop_front();
    (void)endpoint_->wait(Interest::kBoth, Deadline::after(std::chrono::milliseconds(1)));
  }
  if (die_of_next_copy) endpoint_.reset();
}

void FakeWorker::read_control() {
  pollfd ready{control_.get(), POLLIN, 0};
  if (::poll(&ready, 1, 0) <= 0) return;
  auto message = protocol::receive_control_message(control_.get(), Deadline::after(std::chrono::seconds(5)));
  if (!message) return;
  if (message->kind == protocol::ControlMessage::Kind::kMirrorOrder) {
    mirror::OrderParts parts;
    if (mirror::read_order(message->order, parts)) carry_out(parts);
    return;
  }
  callbacks_[message->number] = true;
  const MutexLock lock(mutex_);
  ordered_.push_back({{}, {}, true});
}

void FakeWorker::carry_out(const mirror::OrderParts& parts) {
  const MutexLock lock(mutex_);
  ordered_.push_back({parts.order, parts.pieces});
  const bool finds = parts.order.what == mirror::Order::What::kFind;
  mirror::OrderReply reply;
  for (const auto& [piece, value] : host_changes_) {
    if (!finds) break;
    ++reply.pieces;
    reply.bytes += piece.bytes;
  }
  const auto head = bytes_of(reply);
  auto answer = std::make_shared<std::vector<std::byte>>(head.begin(), head.end());
  if (finds) {
    const std::vector<std::byte> changes = take_changes();
    answer->insert(answer->end(), changes.begin(), changes.end());
  }
  auto completion = std::make_shared<BulkCompletion>();
  (void)endpoint_->bulk().send(parts.order.tag, *answer, *completion);
  sent_.push_back({answer, completion});
}

std::vector<FakeWorker::Ordered> FakeWorker::ordered() {
  const MutexLock lock(mutex_);
  return std::exchange(ordered_, {});
}

void FakeWorker::send(FrameHeader header, std::span<const std::byte> payload) {
  header.payload_length = payload.size();
  while (!stop_) {
    auto slot = endpoint_->reserve(kFrameHeaderBytes + payload.size());
    if (slot) {
      write_header(header, slot->bytes.data());
      if (!payload.empty())
        std::memcpy(slot->bytes.data() + kFrameHeaderBytes, payload.data(), payload.size());
      endpoint_->publish(*slot);
      return;
    }
    if (slot.code() != Code::kWouldBlock) return;
    std::this_thread::yield();
  }
}

void FakeWorker::reply(const FrameHeader& header, std::int32_t error, std::span<const std::byte> body) {
  FrameHeader answer;
  answer.opcode = header.opcode;
  answer.request_id = header.request_id;
  answer.flags = kFlagResponse;
  const protocol::ReplyPrefix prefix{error, printed};
  std::vector<std::byte> payload(sizeof prefix);
  std::memcpy(payload.data(), &prefix, sizeof prefix);
  payload.insert(payload.end(), body.begin(), body.end());
  send(answer, payload);
}

void FakeWorker::reply_later(const FrameHeader& header, std::int32_t error) {
  steps_.push_back([=, this] {
    reply(header, error);
    return true;
  });
}

Status FakeWorker::on_message(const FrameHeader& header, std::span<const std::byte> payload) {
  ++messages;
  if (!header.has(kFlagNoReply)) ++calls;
  switch (static_cast<Op>(header.opcode)) {
    case Op::kGoodbye: goodbye = true; break;
    case Op::kLeaseMemory: lease(header, payload); break;
    case Op::kFindFreeMemory: reply(header, 0, bytes_of(protocol::FindFreeMemoryReply{memory_bytes_})); break;
    case Op::kReturnLease: ++leases_returned; break;
    case Op::kFreeMemory: ++frees; break;
    case Op::kCopyToDevice: copy_to_device(payload); break;
    case Op::kCopyToDeviceInline: inline_copy(header, payload); break;
    case Op::kCopyFromDevice: copy_from_device(payload); break;
    case Op::kCopyBoxToDevice: copy_box_to_device(payload); break;
    case Op::kCopyBoxFromDevice: copy_box_from_device(payload); break;
    case Op::kHostCallback: callback(payload); break;
    case Op::kProbeModule: {
      auto probe = as<protocol::ProbeModuleRequest>(payload);
      protocol::ProbeModuleReply known{};
      known.have = known_code_.contains({probe.hash_low, probe.hash_high}) ? 1 : 0;
      reply(header, 0, bytes_of(known));
      break;
    }
    case Op::kStreamGetFlags: {
      protocol::StreamGetFlagsReply answer{};
      answer.flags = static_cast<std::uint32_t>(stream_flags.load());
      reply(header, stream_flags < 0 ? hipErrorInvalidHandle : hipSuccess, bytes_of(answer));
      break;
    }
    case Op::kOpenHostPart:
      ++parts_opened;
      reply(header, 0);
      break;
    case Op::kWriteHostPieces: write_host(payload); break;
    case Op::kFindHostChanges: find_host(header, payload); break;
    case Op::kSendProgram: receive_program(payload); break;
    case Op::kCompileProgram: compile_program(header, payload); break;
    case Op::kFetchProgram: send_result(payload); break;
    case Op::kLoadModule: load_module(header, payload); break;
    case Op::kLaunch: {
      const MutexLock lock(mutex_);
      arguments_.assign(payload.begin() + sizeof(protocol::LaunchRequest), payload.end());
      ++launches;
      break;
    }
    default:
      if (!header.has(kFlagNoReply)) reply_later(header);
  }
  return Status::ok();
}

void FakeWorker::lease(const FrameHeader& header, std::span<const std::byte> payload) {
  auto request = as<protocol::LeaseMemoryRequest>(payload);
  if (request.bytes > memory_left_) {
    reply(header, hipErrorOutOfMemory);
    return;
  }
  memory_left_ -= request.bytes;
  ++leases;
  auto memory = std::make_unique<std::byte[]>(request.bytes + 256);
  protocol::LeaseMemoryReply answer{};
  answer.address = (reinterpret_cast<std::uint64_t>(memory.get()) + 255) & ~255ull;
  answer.bytes = request.bytes;
  memory_[answer.address] = std::move(memory);
  reply(header, 0, bytes_of(answer));
}

void FakeWorker::write_host(std::span<const std::byte> payload) {
  const auto request = as<protocol::WriteHostPiecesRequest>(payload);
  auto bytes = std::make_shared<std::vector<std::byte>>(payload.begin() + sizeof request, payload.end());
  auto completion = std::make_shared<BulkCompletion>();
  if (request.tag != 0) {
    bytes->resize(request.pieces * sizeof(mirror::Piece) + request.bytes);
    (void)endpoint_->bulk().receive(request.tag, *bytes, *completion);
  }
  steps_.push_back([=, this] {
    if (request.tag != 0 && !completion->done()) return false;
    const MutexLock lock(mutex_);
    for (std::uint64_t i = 0; i < request.pieces; ++i)
      host_written_.push_back(as<mirror::Piece>(std::span(*bytes).subspan(i * sizeof(mirror::Piece))));
    return true;
  });
}

void FakeWorker::find_host(const FrameHeader& header, std::span<const std::byte> payload) {
  protocol::FindHostChangesReply answer{};
  {
    const MutexLock lock(mutex_);
    for (auto& [piece, value] : host_changes_) {
      piece.address += skew;
      answer.bytes += piece.bytes;
    }
    answer.pieces = host_changes_.size();
  }
  answer.idle = idle ? 1 : 0;
  reply(header, 0, bytes_of(answer));
  if (answer.pieces != 0) send_changes(as<protocol::FindHostChangesRequest>(payload).tag);
}

std::vector<std::byte> FakeWorker::take_changes() {
  std::vector<std::byte> bytes;
  for (const auto& [piece, value] : host_changes_) {
    const auto place = bytes_of(piece);
    bytes.insert(bytes.end(), place.begin(), place.end());
  }
  for (const auto& [piece, value] : host_changes_) bytes.insert(bytes.end(), piece.bytes, value);
  host_changes_.clear();
  return bytes;
}

void FakeWorker::send_changes(std::uint64_t tag) {
  const MutexLock lock(mutex_);
  auto bytes = std::make_shared<std::vector<std::byte>>(take_changes());
  auto completion = std::make_shared<BulkCompletion>();
  (void)endpoint_->bulk().send(tag, *bytes, *completion);
  steps_.push_back([bytes, completion] { return completion->done(); });
}

std::vector<mirror::Piece> FakeWorker::host_pieces_written() {
  const MutexLock lock(mutex_);
  return std::exchange(host_written_, {});
}

void FakeWorker::change_host(const mirror::Piece& piece, std::byte value) {
  const MutexLock lock(mutex_);
  host_changes_.emplace_back(piece, value);
}

void FakeWorker::inline_copy(const FrameHeader& header, std::span<const std::byte> payload) {
  auto request = as<protocol::CopyToDeviceInlineRequest>(payload);
  if (int error = fail_next_copy.exchange(0); error != 0) {
    protocol::FaultRequest fault{};
    fault.error = error;
    fault.failed_opcode = header.opcode;
    fault.failed_request_id = header.request_id;
    fault.stream = request.stream;
    FrameHeader notice;
    notice.opcode = static_cast<std::uint16_t>(Op::kFault);
    send(notice, bytes_of(fault));
    return;
  }
  std::vector<std::byte> data(payload.begin() + sizeof request, payload.end());
  steps_.push_back([=] {
    std::memcpy(reinterpret_cast<void*>(request.target), data.data(), data.size());
    return true;
  });
}

void FakeWorker::copy_to_device(std::span<const std::byte> payload) {
  auto request = as<protocol::CopyToDeviceRequest>(payload);
  auto completion = std::make_shared<BulkCompletion>();
  auto started = std::make_shared<bool>(false);
  steps_.push_back([=, this] {
    if (!*started) {
      (void)endpoint_->bulk().receive(request.tag, device(request.target, request.bytes), *completion);
      *started = true;
    }
    return completion->done();
  });
}

void FakeWorker::copy_from_device(std::span<const std::byte> payload) {
  if (die_of_next_copy) {
    stop_ = true;
    return;
  }
  auto request = as<protocol::CopyFromDeviceRequest>(payload);
  if (int error = abort_next_copy.exchange(0); error != 0) {
    (void)endpoint_->bulk().abort(request.tag, static_cast<std::uint32_t>(error));
    return;
  }
  auto completion = std::make_shared<BulkCompletion>();
  auto started = std::make_shared<bool>(false);
  steps_.push_back([=, this] {
    if (!*started)
      (void)endpoint_->bulk().send(request.tag, device(request.source, request.bytes), *completion);
    *started = true;
    return completion->done();
  });
}

void FakeWorker::copy_box_to_device(std::span<const std::byte> payload) {
  auto request = as<protocol::CopyBoxToDeviceRequest>(payload);
  auto completions = std::make_shared<std::list<BulkCompletion>>();
  steps_.push_back([=, this] {
    if (completions->empty()) {
      for (std::uint64_t row = 0; row < request.height * request.depth; ++row) {
        std::uint64_t address = request.target + row / request.height * request.target_slice +
                                row % request.height * request.target_pitch;
        (void)endpoint_->bulk().receive(request.tag, device(address, request.width),
                                        completions->emplace_back());
      }
    }
    return completions->back().done();
  });
}

void FakeWorker::copy_box_from_device(std::span<const std::byte> payload) {
  auto request = as<protocol::CopyBoxFromDeviceRequest>(payload);
  auto completions = std::make_shared<std::list<BulkCompletion>>();
  steps_.push_back([=, this] {
    if (completions->empty()) {
      for (std::uint64_t row = 0; row < request.height * request.depth; ++row) {
        std::uint64_t address = request.source + row / request.height * request.source_slice +
                                row % request.height * request.source_pitch;
        (void)endpoint_->bulk().send(request.tag, device(address, request.width),
                                     completions->emplace_back());
      }
    }
    return completions->back().done();
  });
}

void FakeWorker::callback(std::span<const std::byte> payload) {
  auto request = as<protocol::HostCallbackRequest>(payload);
  if (refuse_callbacks) {
    FrameHeader notice;
    notice.opcode = static_cast<std::uint16_t>(Op::kCallbackRefused);
    return send(notice, bytes_of(protocol::CallbackRefusedNotice{request.cookie}));
  }
  auto told = std::make_shared<bool>(false);
  steps_.push_back([=, this] {
    if (!*told) {
      *told = true;
      protocol::CallbackDueRequest due{};
      due.cookie = request.cookie;
      FrameHeader notice;
      notice.opcode = static_cast<std::uint16_t>(Op::kCallbackDue);
      send(notice, bytes_of(due));
    }
    return callbacks_[request.cookie];
  });
}

void FakeWorker::load_module(const FrameHeader& header, std::span<const std::byte> payload) {
  auto request = as<protocol::LoadModuleRequest>(payload);
  if (request.tag == 0) {
    reply_later(header, known_code_.contains({request.hash_low, request.hash_high}) ? 0 : hipErrorNotFound);
    return;
  }
  auto code = std::make_shared<std::vector<std::byte>>(request.bytes);
  auto completion = std::make_shared<BulkCompletion>();
  (void)endpoint_->bulk().receive(request.tag, *code, *completion);
  steps_.push_back([=, this] {
    if (!completion->done()) return false;
    ++code_received;
    known_code_[{request.hash_low, request.hash_high}] = true;
    reply(header, 0);
    return true;
  });
}

void FakeWorker::receive_program(std::span<const std::byte> payload) {
  auto request = as<protocol::SendProgramRequest>(payload);
  programs_[request.tag].resize(request.bytes);
  auto completion = std::make_shared<BulkCompletion>();
  (void)endpoint_->bulk().receive(request.tag, programs_[request.tag], *completion);
  steps_.push_back([=] { return completion->done(); });
}

// The code is the source backwards, the log its options.
void FakeWorker::compile_program(const FrameHeader& header, std::span<const std::byte> payload) {
  auto request = as<protocol::CompileProgramRequest>(payload);
  steps_.push_back([=, this] {
    if (compile_for_ever) {
      compiling = true;
      return false;
    }
    if (int error = fail_next_compile.exchange(0); error != 0) {
      reply(header, error);
      return true;
    }
    std::vector<std::byte>& bytes = programs_[request.program];
    auto program = protocol::decode_rtc_program(bytes);
    protocol::RtcResult result;
    if (program) {
      result.code.assign(program->text.rbegin(), program->text.rend());
      for (const std::string& option : program->options) result.log += option;
    }
    bytes = protocol::encode(result).value();
    protocol::CompileProgramReply answer{};
    answer.bytes = bytes.size();
    if (const std::uint64_t claimed = claim_result_bytes.exchange(0); claimed != 0) answer.bytes = claimed;
    reply(header, 0, bytes_of(answer));
    return true;
  });
}

void FakeWorker::send_result(std::span<const std::byte> payload) {
  auto request = as<protocol::FetchProgramRequest>(payload);
  if (int error = abort_next_fetch.exchange(0); error != 0) {
    (void)endpoint_->bulk().abort(request.tag, static_cast<std::uint32_t>(error));
    return;
  }
  auto completion = std::make_shared<BulkCompletion>();
  (void)endpoint_->bulk().send(request.tag, programs_[request.program], *completion);
  steps_.push_back([=] { return completion->done(); });
}

}  // namespace tf::proxy
