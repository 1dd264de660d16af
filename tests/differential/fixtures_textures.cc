// SPDX-License-Identifier: Apache-2.0
// Mipmapped arrays, texture and surface objects, and what describes them.
#include "tests/differential/case.h"

namespace tf::differential {
namespace {

hipMipmappedArray_t new_mipmapped(Case& c) {
  hipMipmappedArray_t mipmapped = nullptr;
  c.check(c.api("hipMallocMipmappedArray", &mipmapped, c.handle<const hipChannelFormatDesc*>("elements"),
                hipExtent{16, 4, 0}, 2U, 0U),
          "hipMallocMipmappedArray");
  return mipmapped;
}

template <std::size_t kDepth>
Value array_3d_description(Case& c) {
  auto* const description = c.keep<HIP_ARRAY3D_DESCRIPTOR>();
  description->Width = 16;
  description->Height = 4;
  description->Depth = kDepth;
  description->Format = HIP_AD_FORMAT_FLOAT;
  description->NumChannels = 1;
  return pointer(description);
}
template <unsigned kChannels>
Value array_description(Case& c) {
  auto* const description = c.keep<HIP_ARRAY_DESCRIPTOR>();
  *description = {16, 4, HIP_AD_FORMAT_FLOAT, kChannels};
  return pointer(description);
}

Value resource_of(Case& c, const char* array) {
  auto* const resource = c.keep<hipResourceDesc>();
  resource->resType = hipResourceTypeArray;
  resource->res.array.array = c.handle<hipArray*>(array);
  return pointer(resource);
}
Value resource_mipmapped(Case& c) {
  auto* const resource = c.keep<hipResourceDesc>();
  resource->resType = hipResourceTypeMipmappedArray;
  resource->res.mipmap.mipmap = c.handle<hipMipmappedArray_t>("mipmapped");
  return pointer(resource);
}
Value resource_linear(Case& c, const char* memory) {
  auto* const resource = c.keep<hipResourceDesc>();
  resource->resType = hipResourceTypeLinear;
  resource->res.linear.devPtr = c.handle<void*>(memory);
  resource->res.linear.desc = {32, 0, 0, 0, hipChannelFormatKindFloat};
  resource->res.linear.sizeInBytes = 4096;
  return pointer(resource);
}
Value resource_pitched(Case& c) {
  auto* const resource = c.keep<hipResourceDesc>();
  resource->resType = hipResourceTypePitch2D;
  resource->res.pitch2D = {c.handle<void*>("device"), {32, 0, 0, 0, hipChannelFormatKindFloat}, 16, 4, 256};
  return pointer(resource);
}
Value resource_odd(Case& c) {
  const Value made = resource_of(c, "array");
  const int type = 77;
  std::memcpy(reinterpret_cast<void*>(made.number), &type, sizeof type);
  return made;
}
Value driver_resource(Case& c) {
  auto* const resource = c.keep<HIP_RESOURCE_DESC>();
  resource->resType = HIP_RESOURCE_TYPE_ARRAY;
  resource->res.array.hArray = c.handle<hipArray*>("array");
  return pointer(resource);
}
Value sampling(Case& c) { return pointer(c.keep<hipTextureDesc>()); }
Value sampling_odd(Case& c) {
  auto* const sampling = c.keep<hipTextureDesc>();
  const int mode = 77;
  std::memcpy(&sampling->filterMode, &mode, sizeof mode);
  return pointer(sampling);
}

hipTextureObject_t new_texture(Case& c) {
  hipTextureObject_t texture = nullptr;
  c.check(
      c.api("hipCreateTextureObject", &texture, c.handle<const hipResourceDesc*>("resource"),
            c.handle<const hipTextureDesc*>("sampling"), static_cast<const hipResourceViewDesc*>(nullptr)),
      "hipCreateTextureObject");
  return texture;
}
// Of an array that surfaces may write.
Value array_surface(Case& c) {
  hipArray* array = nullptr;
  c.check(c.api("hipMallocArray", &array, c.handle<const hipChannelFormatDesc*>("elements"), std::size_t{16},
                std::size_t{4}, unsigned{hipArraySurfaceLoadStore}),
          "hipMallocArray");
  return ended(c, array, "hipFreeArray");
}
hipSurfaceObject_t new_surface(Case& c) {
  hipSurfaceObject_t surface = nullptr;
  c.check(c.api("hipCreateSurfaceObject", &surface, c.handle<const hipResourceDesc*>("resource_surface")),
          "hipCreateSurfaceObject");
  return surface;
}
Value module_textures(Case& c) {
  hipModule_t module = nullptr;
  c.check(c.api("hipModuleLoad", &module, kTextureFile), "hipModuleLoad");
  return ended(c, module, "hipModuleUnload");
}

}  // namespace

void add_textures(Fixtures& all) {
  all["mipmapped"] = [](Case& c) { return ended(c, new_mipmapped(c), "hipFreeMipmappedArray"); };
  all["mipmapped_destroyed"] = [](Case& c) { return gone(c, new_mipmapped(c), "hipFreeMipmappedArray"); };
  all["array_description"] = array_description<1>;
  all["array_description_three"] = array_description<3>;
  all["array_3d_description"] = array_3d_description<2>;
  all["array_3d_description_flat"] = array_3d_description<0>;
  all["array_surface"] = array_surface;
  all["resource"] = [](Case& c) { return resource_of(c, "array"); };
  all["resource_destroyed"] = [](Case& c) { return resource_of(c, "array_destroyed"); };
  all["resource_surface"] = [](Case& c) { return resource_of(c, "array_surface"); };
  all["resource_linear"] = [](Case& c) { return resource_linear(c, "device"); };
  all["resource_pinned"] = [](Case& c) { return resource_linear(c, "pinned"); };
  all["resource_managed"] = [](Case& c) { return resource_linear(c, "managed"); };
  all["resource_freed"] = [](Case& c) { return resource_linear(c, "device_freed"); };
  all["resource_pitched"] = resource_pitched;
  all["resource_mipmapped"] = resource_mipmapped;
  all["resource_odd"] = resource_odd;
  all["driver_resource"] = driver_resource;
  all["sampling"] = sampling;
  all["sampling_odd"] = sampling_odd;
  all["texture"] = [](Case& c) { return ended(c, new_texture(c), "hipDestroyTextureObject"); };
  all["texture_destroyed"] = [](Case& c) { return gone(c, new_texture(c), "hipDestroyTextureObject"); };
  all["surface"] = [](Case& c) { return ended(c, new_surface(c), "hipDestroySurfaceObject"); };
  all["surface_destroyed"] = [](Case& c) { return gone(c, new_surface(c), "hipDestroySurfaceObject"); };
  all["module_textures"] = module_textures;
  all["text_reference"] = [](Case&) { return pointer("module_line"); };
}

}  // namespace tf::differential
