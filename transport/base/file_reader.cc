// SPDX-License-Identifier: Apache-2.0
// Reads files by C's functions.
#include "transport/base/file_reader.h"

#include <algorithm>
#include <limits>

namespace tf {
namespace {

constexpr std::size_t kChunkBytes = 64 << 10;  // /proc and /sys do not tell how long their files are

std::string read_up_to(FileReader& file, std::size_t bytes_max) {
  std::string text;
  for (;;) {
    const std::size_t before = text.size();
    // Twice as much each time, so that a large file is not copied once for each chunk.
    const std::size_t wanted = std::min(std::max(kChunkBytes, before), bytes_max - before);
    text.resize(before + wanted);
    const std::size_t got = file.read(text.data() + before, wanted);
    text.resize(before + got);
    if (got < wanted || text.size() == bytes_max) return text;
  }
}

}  // namespace

std::size_t FileReader::read(void* target, std::size_t bytes) {
  return std::fread(target, 1, bytes, file_.get());
}

bool FileReader::seek(std::size_t offset) {
  if (offset > static_cast<std::size_t>(std::numeric_limits<long>::max())) return false;
  return std::fseek(file_.get(), static_cast<long>(offset), SEEK_SET) == 0;
}

std::string read_file(const std::string& path, std::size_t bytes_max) {
  FileReader file(path);
  return file ? read_up_to(file, bytes_max) : std::string();
}

std::string read_rest(FileReader& file) { return read_up_to(file, std::string().max_size()); }

}  // namespace tf
