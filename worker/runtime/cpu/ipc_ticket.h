// SPDX-License-Identifier: Apache-2.0
// The content of hipIpc handles: where another process holds a memory file. Plain values.
#pragma once

#include <array>
#include <cstdint>
#include <type_traits>

namespace tf::cpu {

struct IpcTicket {
  std::array<char, 8> magic{};
  std::int32_t process = 0;
  std::int32_t descriptor = -1;
  std::uint64_t file = 0;  // its inode: unlike the descriptor number it is not reused
  std::uint64_t bytes = 0;
  std::uint64_t offset = 0;  // of the pointer in the allocation
  std::int32_t device = 0;   // Device::number(): processes may see other devices, or in another order
  std::uint32_t reserved = 0;
};
static_assert(sizeof(IpcTicket) <= 64 && std::is_trivially_copyable_v<IpcTicket>);

inline constexpr std::array<char, 8> kIpcMemoryMagic = {'H', 'I', 'P', 'C', 'P', 'U', 'I', '2'};
inline constexpr std::array<char, 8> kIpcEventMagic = {'H', 'I', 'P', 'C', 'P', 'U', 'E', '2'};

// A ticket for this process's memory file; its `file` is 0 if there is no such file. `device`: its number.
IpcTicket make_ticket(const std::array<char, 8>& magic, int descriptor, std::uint64_t bytes, int device);
// Opens the file that the ticket names; -1: it does not exist, or is not what the ticket says. Opens nothing
// but memory files: opening other things can have side effects.
int open_ticket(const IpcTicket& ticket);
// Whether the open file is the one that the ticket names.
bool is_of_ticket(int descriptor, const IpcTicket& ticket);

}  // namespace tf::cpu
