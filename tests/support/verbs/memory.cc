// SPDX-License-Identifier: Apache-2.0
#include <sys/mman.h>

#include <cerrno>

#include "tests/support/verbs/core.h"

namespace tf::test::fake {
namespace {

constexpr std::uint64_t kPageBytes = 4096;
constexpr int kRemoteWrites = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC;
constexpr int kKnownAccess = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |
                             IBV_ACCESS_REMOTE_ATOMIC | IBV_ACCESS_ON_DEMAND | IBV_ACCESS_HUGETLB;

ibv_pd* alloc_pd(ibv_context* base) {
  auto* const context = static_cast<Context*>(base);
  auto* const pd = new Pd{};
  pd->context = base;
  const MutexLock lock(context->core->mutex);
  ++context->children;
  ++context->core->objects;
  return pd;
}

int dealloc_pd(ibv_pd* base) {
  auto* const pd = static_cast<Pd*>(base);
  Core& core = core_of(pd);
  const MutexLock lock(core.mutex);
  if (pd->children != 0) {
    core.violate("dealloc_pd: " + std::to_string(pd->children) + " regions and queue pairs of it exist");
    return EBUSY;
  }
  --static_cast<Context*>(pd->context)->children;
  --core.objects;
  delete pd;
  return 0;
}

bool is_everything(const void* address, std::size_t bytes) { return address == nullptr && bytes == SIZE_MAX; }

// 0 or errno. Locked.
int check_registration(Core& core, const FakeDevice& facts, const void* address, std::size_t bytes,
                       int access) TF_REQUIRES(core.mutex) {
  if ((access & ~(kKnownAccess | static_cast<int>(IBV_ACCESS_OPTIONAL_RANGE))) != 0) return EINVAL;
  if ((access & kRemoteWrites) != 0 && (access & IBV_ACCESS_LOCAL_WRITE) == 0) return EINVAL;
  const std::uint64_t caps = facts.attributes.odp_caps.general_caps;
  if (is_everything(address, bytes)) {
    const bool allowed = (access & IBV_ACCESS_ON_DEMAND) != 0 && (caps & IBV_ODP_SUPPORT_IMPLICIT) != 0;
    return allowed ? 0 : EINVAL;
  }
  if ((access & IBV_ACCESS_ON_DEMAND) != 0) return (caps & IBV_ODP_SUPPORT) != 0 ? 0 : EOPNOTSUPP;
  if (bytes == 0 || bytes > facts.attributes.orig_attr.max_mr_size) return EINVAL;
  if (bytes > core.memory_limit || core.registered > core.memory_limit - bytes) return ENOMEM;
  return 0;
}

Mr* add_region(Core& core, Pd& pd, std::uint64_t start, std::byte* memory, std::size_t bytes, int access)
    TF_REQUIRES(core.mutex) {
  auto* const mr = new Mr{};
  mr->context = pd.context;
  mr->pd = &pd;
  mr->addr = reinterpret_cast<void*>(start);
  mr->length = bytes;
  mr->of = static_cast<Context*>(pd.context)->of;
  mr->start = start;
  mr->memory = memory;
  mr->access = access;
  mr->lkey = core.next_key;
  mr->rkey = core.next_key ^ 0x5a000000u;  // never the same, so that mistaking one for the other shows
  core.next_key += 0x101;
  core.local_keys.emplace(mr->lkey, mr);
  core.remote_keys.emplace(mr->rkey, mr);
  if ((access & IBV_ACCESS_ON_DEMAND) == 0) core.registered += bytes;
  ++core.objects;
  ++core.totals.registrations;
  if ((access & (IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE)) != 0) ++core.totals.remote_registrations;
  ++pd.children;
  return mr;
}

ibv_mr* reg_mr(ibv_pd* base, void* address, std::size_t bytes, int access) {
  auto* const pd = static_cast<Pd*>(base);
  Core& core = core_of(pd);
  const MutexLock lock(core.mutex);
  if (core.refused_mrs.take()) return nullptr;
  const FakeDevice& facts = static_cast<Context*>(pd->context)->of->facts;
  if (const int error = check_registration(core, facts, address, bytes, access); error != 0) {
    errno = error;
    return nullptr;
  }
  Mr* const mr = add_region(core, *pd, reinterpret_cast<std::uintptr_t>(address),
                            static_cast<std::byte*>(address), bytes, access);
  mr->everything = is_everything(address, bytes);
  return mr;
}

ibv_mr* reg_dmabuf_mr(ibv_pd* base, std::uint64_t offset, std::size_t bytes, std::uint64_t iova, int fd,
                      int access) {
  auto* const pd = static_cast<Pd*>(base);
  Core& core = core_of(pd);
  const MutexLock lock(core.mutex);
  if (core.refused_mrs.take()) return nullptr;
  const FakeDevice& facts = static_cast<Context*>(pd->context)->of->facts;
  int error = facts.dmabuf ? check_registration(core, facts, nullptr, bytes, access) : EOPNOTSUPP;
  if (error == 0 && (offset ^ iova) % kPageBytes != 0) error = EINVAL;  // as the kernel has it
  void* memory = MAP_FAILED;
  if (error == 0) {
    memory = ::mmap(nullptr, offset + bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (memory == MAP_FAILED) error = EBADF;
  }
  if (error != 0) {
    errno = error;
    return nullptr;
  }
  Mr* const mr = add_region(core, *pd, iova, static_cast<std::byte*>(memory) + offset, bytes, access);
  mr->mapped = offset + bytes;
  return mr;
}

int dereg_mr(ibv_mr* base) {
  auto* const mr = static_cast<Mr*>(base);
  Core& core = core_of(mr);
  const MutexLock lock(core.mutex);
  if (mr->uses != 0) {
    core.violate("dereg_mr: requests that are not finished use " + std::to_string(mr->uses) +
                 " pieces of the region");
    return EBUSY;
  }
  core.local_keys.erase(mr->lkey);
  core.remote_keys.erase(mr->rkey);
  if ((mr->access & IBV_ACCESS_ON_DEMAND) == 0) core.registered -= mr->length;
  if (mr->mapped != 0) ::munmap(mr->memory - (mr->mapped - mr->length), mr->mapped);
  --static_cast<Pd*>(mr->pd)->children;
  --core.objects;
  delete mr;
  return 0;
}

}  // namespace

bool Mr::covers(std::uint64_t address, std::uint64_t bytes) const {
  return everything || (address >= start && bytes <= length && address - start <= length - bytes);
}

std::byte* Mr::at(std::uint64_t address) const {
  return everything ? reinterpret_cast<std::byte*>(address) : memory + (address - start);
}

Mr* Core::find_local(const Qp& qp, const ibv_sge& piece, int access) {
  const auto found = local_keys.find(piece.lkey);
  if (found == local_keys.end()) return nullptr;
  Mr* const mr = found->second;
  const bool right = mr->pd == qp.pd && (mr->access & access) == access;
  return right && mr->covers(piece.addr, piece.length) ? mr : nullptr;
}

Mr* Core::find_remote(const Qp& responder, std::uint32_t key, std::uint64_t address, std::uint64_t bytes,
                      int access) {
  const auto found = remote_keys.find(key);
  if (found == remote_keys.end()) return nullptr;
  Mr* const mr = found->second;
  const bool right = mr->pd == responder.pd && (mr->access & access) == access &&
                     (static_cast<int>(responder.set.qp_access_flags) & access) == access;
  return right && mr->covers(address, bytes) ? mr : nullptr;
}

void Core::count_uses(const std::vector<ibv_sge>& pieces, std::size_t change) {
  for (const ibv_sge& piece : pieces) {
    const auto found = local_keys.find(piece.lkey);
    if (found != local_keys.end()) found->second->uses += change;
  }
}

bool Refusal::take() {
  if (count == 0) return false;
  --count;
  errno = error;
  return true;
}

void fill_memory_functions(rdma::Verbs& table) {
  table.alloc_pd = alloc_pd;
  table.dealloc_pd = dealloc_pd;
  table.reg_mr = reg_mr;
  table.reg_dmabuf_mr = reg_dmabuf_mr;
  table.dereg_mr = dereg_mr;
}

}  // namespace tf::test::fake
