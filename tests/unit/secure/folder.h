// SPDX-License-Identifier: Apache-2.0
// A folder of a test's own, which goes with it, and files in it.
#pragma once

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace tf::secure {

class Folder {
 public:
  Folder() : path_((std::filesystem::temp_directory_path() / "hip-secure-XXXXXX").string()) {
    EXPECT_NE(::mkdtemp(path_.data()), nullptr);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  std::string file(const std::string& name) const { return path_ + "/" + name; }
  std::string write(const std::string& name, const std::string& text, mode_t mode = 0600) const {
    std::ofstream(file(name)) << text;
    EXPECT_EQ(::chmod(file(name).c_str(), mode), 0);
    return file(name);
  }
  std::string read(const std::string& name) const {
    std::ifstream in(file(name));
    return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  }

 private:
  std::string path_;
};

}  // namespace tf::secure
