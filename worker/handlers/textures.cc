// SPDX-License-Identifier: Apache-2.0
// Making and destroying texture and surface objects. Executor thread.
#include "worker/gen/custom.h"
#include "worker/session/call.h"

namespace tf::worker::custom {
namespace {

// What was sent before may use it; as everything that is destroyed, it ends after its device's earlier work.
// `device`: negative if there is no such object.
template <typename Destroy>
void destroy_after_work(Call& call, int device, Destroy destroy) {
  SessionState& session = call.session();
  if (device < 0) return call.finish(hipErrorInvalidValue);
  if (!session.streams.wait_device_idle(device)) return;
  const hipError_t error = session.device.use(device);
  call.finish(error != hipSuccess ? error : destroy(session.textures));
}

}  // namespace

void create_texture(Call& call, const protocol::CreateTextureRequest& request) {
  if (!call.use_device()) return;
  protocol::CreateTextureReply reply{};
  const auto device = static_cast<int>(call.header().device());
  const hipError_t error = call.session().textures.create(request, device, reply.texture);
  call.reply(error, std::as_bytes(std::span(&reply, 1)));
}

void destroy_texture(Call& call, const protocol::DestroyTextureRequest& request) {
  destroy_after_work(call, call.session().textures.device_of(request.texture),
                     [&](Textures& all) { return all.destroy(request.texture); });
}

void create_surface(Call& call, const protocol::CreateSurfaceRequest& request) {
  if (!call.use_device()) return;
  protocol::CreateSurfaceReply reply{};
  const auto device = static_cast<int>(call.header().device());
  const hipError_t error = call.session().textures.create_surface(request.address, device, reply.surface);
  call.reply(error, std::as_bytes(std::span(&reply, 1)));
}

void destroy_surface(Call& call, const protocol::DestroySurfaceRequest& request) {
  destroy_after_work(call, call.session().textures.device_of_surface(request.surface),
                     [&](Textures& all) { return all.destroy_surface(request.surface); });
}

}  // namespace tf::worker::custom
