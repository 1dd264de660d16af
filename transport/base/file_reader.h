// SPDX-License-Identifier: Apache-2.0
// Files, read without the standard library's streams: those bring half a megabyte of locales into every
// library that is loaded into other people's programs.
#pragma once

#include <cstddef>
#include <cstdio>
#include <memory>
#include <string>

namespace tf {

// One open file, closed with it. For one thread at a time.
class FileReader {
 public:
  // False afterwards: it cannot be opened, and errno says why.
  explicit FileReader(const std::string& path) : file_(std::fopen(path.c_str(), "rb")) {}
  explicit operator bool() const { return file_ != nullptr; }

  // How many bytes were there: fewer than `bytes` at the end of the file, or after an error.
  std::size_t read(void* target, std::size_t bytes);
  // The next read begins `offset` bytes behind the beginning. False: a file that cannot do this.
  bool seek(std::size_t offset);

 private:
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  std::unique_ptr<std::FILE, Close> file_;
};

// At most `bytes_max` bytes from the beginning of the file; none if it cannot be opened or read.
std::string read_file(const std::string& path, std::size_t bytes_max);
// As much as there is.
std::string read_rest(FileReader& file);

}  // namespace tf
