// SPDX-License-Identifier: Apache-2.0
// Code objects, functions, variables. Executor thread.
#include <cstring>
#include <memory>
#include <string>
#include <utility>

#include "worker/gen/custom.h"
#include "worker/session/call.h"

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
hipError_t receive_code(SessionState& session, const protocol::LoadModuleRequest& request) {
  CodeBytes code;
  code.size = static_cast<std::size_t>(request.bytes);
  // Zeros behind the image: text forms of code end with the first of them.
  code.data = std::make_unique_for_overwrite<std::byte[]>(code.size + kImagePaddingBytes);
  std::memset(code.data.get() + code.size, 0, kImagePaddingBytes);
  const hipError_t error = session.copies.receive(request.tag, {code.data.get(), code.size});
  if (error != hipSuccess) return error;
  const CodeHash hash{request.hash_low, request.hash_high};
  if (hash_of(code) != hash || !is_self_contained({code.data.get(), code.size})) return hipErrorInvalidImage;
  return session.modules.keep(hash, std::move(code)) ? hipSuccess : hipErrorOutOfMemory;
}

}  // namespace

void probe_module(Call& call, const protocol::ProbeModuleRequest& request) {
  protocol::ProbeModuleReply reply{};
  reply.have = call.session().modules.cached({request.hash_low, request.hash_high}, request.bytes) ? 1 : 0;
  call.reply(hipSuccess, std::as_bytes(std::span(&reply, 1)));
}

void load_module(Call& call, const protocol::LoadModuleRequest& request) {
  SessionState& session = call.session();
  hipError_t error = hipSuccess;
  if (request.tag != 0) {
    // Before anything else can fail: the payload is already coming.
    if (request.bytes == 0 || request.bytes > kModuleBytesMax) {
      if (request.bytes != 0) session.copies.discard(request.tag, request.bytes);
      error = hipErrorInvalidImage;
    } else {
      error = receive_code(session, request);
    }
  } else if (!session.modules.cached({request.hash_low, request.hash_high}, request.bytes)) {
    error = hipErrorInvalidImage;
  }
  if (error != hipSuccess) return call.reply(error);
  if (!call.use_device()) return;
  call.reply(session.modules.load(session.objects, request.module, {request.hash_low, request.hash_high},
                                  session.device.get()));
}

void unload_module(Call& call, const protocol::UnloadModuleRequest& request) {
  SessionState& session = call.session();
  const Object* module = session.objects.find(protocol::HandleKind::kModule, request.module);
  if (module == nullptr) return call.finish(hipErrorInvalidHandle);
  const int device = module->device;
  if (!session.streams.wait_device_idle(device)) return;
  const hipError_t error = session.device.use(device);
  call.finish(error != hipSuccess
                  ? error
                  : session.modules.unload(session.objects, session.addresses, request.module));
}

void get_function(Call& call, const protocol::GetFunctionRequest& request) {
  if (!call.use_device()) return;
  SessionState& session = call.session();
  const std::string name = name_of(call);
  if (!usable_name(name)) return call.finish(hipErrorInvalidValue);
  session.executions.name(request.function, name);
  call.finish(session.modules.get_function(session.objects, request.module, request.function, name));
}

void find_function(Call& call, const protocol::FindFunctionRequest& request) {
  if (!call.use_device()) return;
  SessionState& session = call.session();
  const std::string name = name_of(call);
  if (!usable_name(name)) return call.reply(hipErrorInvalidValue);
  session.executions.name(request.function, name);
  call.reply(session.modules.get_function(session.objects, request.module, request.function, name));
}

void count_functions(Call& call, const protocol::CountFunctionsRequest& request) {
  if (!call.use_device()) return;
  SessionState& session = call.session();
  protocol::CountFunctionsReply reply{};
  const hipError_t error = session.modules.count_functions(session.objects, request.module, reply.count);
  if (error != hipSuccess) return call.reply(error);
  call.reply(hipSuccess, std::as_bytes(std::span(&reply, 1)));
}

void describe_function(Call& call, const protocol::DescribeFunctionRequest& request) {
  if (!call.use_device()) return;
  SessionState& session = call.session();
  protocol::DescribeFunctionReply reply{};
  const hipError_t error =
      session.modules.describe(session.objects, request.function, request.first_argument, reply);
  if (error != hipSuccess) return call.reply(error);
  call.reply(hipSuccess, std::as_bytes(std::span(&reply, 1)));
}

void get_global(Call& call, const protocol::GetGlobalRequest& request) {
  if (!call.use_device()) return;
  SessionState& session = call.session();
  const std::string name = name_of(call);
  if (!usable_name(name)) return call.reply(hipErrorInvalidValue);
  protocol::GetGlobalReply reply{};
  const hipError_t error = session.modules.get_global(session.objects, session.addresses, request.module,
                                                      name, reply.address, reply.bytes);
  if (error != hipSuccess) return call.reply(error);
  call.reply(hipSuccess, std::as_bytes(std::span(&reply, 1)));
}

void bind_managed(Call& call, const protocol::BindManagedRequest& request) {
  if (!call.use_device()) return;
  SessionState& session = call.session();
  const std::string name = name_of(call);
  if (!usable_name(name)) return call.finish(hipErrorInvalidValue);
  call.finish(session.modules.bind_managed(session.objects, request.module, name, request.address));
}

}  // namespace tf::worker::custom
