// SPDX-License-Identifier: Apache-2.0
// Making and destroying texture and surface objects. Executor thread.
#include "worker/gen/custom.h"
#include "worker/session/call.h"

namespace tf::worker::custom {

void create_texture(Call& call, const protocol::CreateTextureRequest& request) {
  if (!call.use_device()) return;
  protocol::CreateTextureReply reply{};
  const hipError_t error = call.session().textures.create(request, reply.texture);
  call.reply(error, std::as_bytes(std::span(&reply, 1)));
}

// What was sent before may use it; as everything that is destroyed, it ends after the device's earlier work.
void destroy_texture(Call& call, const protocol::DestroyTextureRequest& request) {
  if (!call.use_device()) return;
  SessionState& session = call.session();
  if (!session.streams.wait_device_idle(static_cast<int>(call.header().device()))) return;
  call.finish(session.textures.destroy(request.texture));
}

void create_surface(Call& call, const protocol::CreateSurfaceRequest& request) {
  if (!call.use_device()) return;
  protocol::CreateSurfaceReply reply{};
  const hipError_t error = call.session().textures.create_surface(request.address, reply.surface);
  call.reply(error, std::as_bytes(std::span(&reply, 1)));
}

void destroy_surface(Call& call, const protocol::DestroySurfaceRequest& request) {
  if (!call.use_device()) return;
  SessionState& session = call.session();
  if (!session.streams.wait_device_idle(static_cast<int>(call.header().device()))) return;
  call.finish(session.textures.destroy_surface(request.surface));
}

}  // namespace tf::worker::custom
