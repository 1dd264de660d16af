// SPDX-License-Identifier: Apache-2.0
// Code objects, functions, variables, launches. Executor thread.
#include <cstring>
#include <memory>
#include <string>
#include <utility>

#include "worker/gen/custom.h"
#include "worker/session/call.h"
#include "worker/session/launch_shape.h"
#include "worker/session/session.h"

namespace tf::worker::custom {
namespace {

constexpr std::size_t kImagePaddingBytes = 64;

std::string name_of(Call& call) {
  const std::span<const std::byte> tail = call.tail();
  return {reinterpret_cast<const char*>(tail.data()), tail.size()};
}

bool usable_name(const std::string& name) {
  return !name.empty() && name.size() <= kSymbolNameBytesMax && name.find('\0') == std::string::npos;
}

// The bytes of a code object that the client sends, checked against the hash it announced.
hipError_t receive_code(Session& session, const protocol::LoadModuleRequest& request) {
  CodeBytes code;
  code.size = static_cast<std::size_t>(request.bytes);
  // Zeros behind the image: text forms of code end with the first of them.
  code.data = std::make_unique_for_overwrite<std::byte[]>(code.size + kImagePaddingBytes);
  std::memset(code.data.get() + code.size, 0, kImagePaddingBytes);
  const hipError_t error = session.copies().receive(request.tag, {code.data.get(), code.size});
  if (error != hipSuccess) return error;
  const CodeHash hash{request.hash_low, request.hash_high};
  if (hash_of(code) != hash || !is_self_contained({code.data.get(), code.size})) return hipErrorInvalidImage;
  return session.modules().keep(hash, std::move(code)) ? hipSuccess : hipErrorOutOfMemory;
}

// 0, or an event of the session. False: unknown.
bool find_event(Session& session, std::uint64_t raw, hipEvent_t& event) {
  if (raw == 0) return true;
  const Object* object = session.objects().find(protocol::HandleKind::kEvent, raw);
  if (object == nullptr) return false;
  event = static_cast<hipEvent_t>(object->object);
  return true;
}

}  // namespace

void probe_module(Call& call, const protocol::ProbeModuleRequest& request) {
  protocol::ProbeModuleReply reply{};
  reply.have = call.session().modules().cached({request.hash_low, request.hash_high}, request.bytes) ? 1 : 0;
  call.reply(hipSuccess, std::as_bytes(std::span(&reply, 1)));
}

void load_module(Call& call, const protocol::LoadModuleRequest& request) {
  Session& session = call.session();
  hipError_t error = hipSuccess;
  if (request.tag != 0) {
    // Before anything else can fail: the payload is on its way.
    if (request.bytes == 0 || request.bytes > kModuleBytesMax) {
      if (request.bytes != 0) session.copies().discard(request.tag, request.bytes);
      error = hipErrorInvalidImage;
    } else {
      error = receive_code(session, request);
    }
  } else if (!session.modules().cached({request.hash_low, request.hash_high}, request.bytes)) {
    error = hipErrorInvalidImage;
  }
  if (error != hipSuccess) return call.reply(error);
  if (!call.use_device()) return;
  call.reply(session.modules().load(session.objects(), request.module, {request.hash_low, request.hash_high},
                                    session.current_device()));
}

void unload_module(Call& call, const protocol::UnloadModuleRequest& request) {
  Session& session = call.session();
  const Object* module = session.objects().find(protocol::HandleKind::kModule, request.module);
  if (module == nullptr) return call.finish(hipErrorInvalidHandle);
  const int device = module->device;
  if (!session.wait_device_idle(device)) return;
  const hipError_t error = session.use_device(device);
  call.finish(error != hipSuccess
                  ? error
                  : session.modules().unload(session.objects(), session.addresses(), request.module));
}

void get_function(Call& call, const protocol::GetFunctionRequest& request) {
  if (!call.use_device()) return;
  Session& session = call.session();
  const std::string name = name_of(call);
  if (!usable_name(name)) return call.finish(hipErrorInvalidValue);
  call.finish(session.modules().get_function(session.objects(), request.module, request.function, name));
}

void find_function(Call& call, const protocol::FindFunctionRequest& request) {
  if (!call.use_device()) return;
  Session& session = call.session();
  const std::string name = name_of(call);
  if (!usable_name(name)) return call.reply(hipErrorInvalidValue);
  call.reply(session.modules().get_function(session.objects(), request.module, request.function, name));
}

void describe_function(Call& call, const protocol::DescribeFunctionRequest& request) {
  if (!call.use_device()) return;
  Session& session = call.session();
  protocol::DescribeFunctionReply reply{};
  const hipError_t error =
      session.modules().describe(session.objects(), request.function, request.first_argument, reply);
  if (error != hipSuccess) return call.reply(error);
  call.reply(hipSuccess, std::as_bytes(std::span(&reply, 1)));
}

void get_global(Call& call, const protocol::GetGlobalRequest& request) {
  if (!call.use_device()) return;
  Session& session = call.session();
  const std::string name = name_of(call);
  if (!usable_name(name)) return call.reply(hipErrorInvalidValue);
  protocol::GetGlobalReply reply{};
  const hipError_t error = session.modules().get_global(session.objects(), session.addresses(),
                                                        request.module, name, reply.address, reply.bytes);
  if (error != hipSuccess) return call.reply(error);
  call.reply(hipSuccess, std::as_bytes(std::span(&reply, 1)));
}

void launch(Call& call, const protocol::LaunchRequest& request) {
  Session& session = call.session();
  if (!call.use_device()) return;
  hipStream_t stream = nullptr;
  int device = 0;
  hipEvent_t start = nullptr;
  hipEvent_t stop = nullptr;
  const Object* function = session.objects().find(protocol::HandleKind::kFunction, request.function);
  if (function == nullptr || !session.find_stream(request.stream, stream, device) ||
      !find_event(session, request.start_event, start) || !find_event(session, request.stop_event, stop))
    return call.finish(hipErrorInvalidHandle, request.stream);
  hipError_t error = hipSuccess;
  if (!valid_shape(request.grid, request.block)) error = hipErrorInvalidConfiguration;
  if ((request.flags & ~kLaunchCooperative) != 0) error = hipErrorInvalidValue;
  if (error == hipSuccess && start != nullptr) error = call.hip().hipEventRecord(start, stream);
  if (error == hipSuccess)
    error =
        session.modules().launch(request, static_cast<hipFunction_t>(function->object), stream, call.tail());
  if (error == hipSuccess && stop != nullptr) error = call.hip().hipEventRecord(stop, stream);
  call.finish(error, request.stream);
}

}  // namespace tf::worker::custom
