// SPDX-License-Identifier: Apache-2.0
// Files of any size, of the kernel's, and none.
#include "transport/base/file_reader.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <string>

namespace tf {
namespace {

class FileReaderTest : public ::testing::Test {
 protected:
  ~FileReaderTest() override { ::unlink(path_.c_str()); }

  void write(const std::string& text) {
    std::string name = ::testing::TempDir() + "file_reader_XXXXXX";
    const int fd = ::mkstemp(name.data());
    ASSERT_GE(fd, 0);
    path_ = name;
    EXPECT_EQ(::write(fd, text.data(), text.size()), static_cast<ssize_t>(text.size()));
    ::close(fd);
  }

  std::string path_;
};

TEST_F(FileReaderTest, ReadsAtMostWhatIsAskedFor) {
  std::string text(300'000, 'a');
  for (std::size_t i = 0; i < text.size(); ++i) text[i] = static_cast<char>('a' + i * i % 26);
  write(text);
  EXPECT_EQ(read_file(path_, text.size() * 2), text);
  for (const std::size_t bytes :
       {std::size_t{0}, std::size_t{1}, std::size_t{65536}, std::size_t{65537}, text.size()})
    EXPECT_EQ(read_file(path_, bytes), text.substr(0, bytes)) << bytes;
  FileReader file(path_);
  ASSERT_TRUE(file);
  EXPECT_EQ(read_rest(file), text);
}

TEST_F(FileReaderTest, GoesOnWhereItIsTold) {
  write("0123456789");
  FileReader file(path_);
  std::array<char, 4> found{};
  ASSERT_TRUE(file.seek(7));
  EXPECT_EQ(file.read(found.data(), found.size()), 3u) << "the end";
  EXPECT_EQ(std::string(found.data(), 3), "789");
  ASSERT_TRUE(file.seek(2)) << "also back from the end";
  EXPECT_EQ(file.read(found.data(), found.size()), 4u);
  EXPECT_EQ(std::string(found.data(), 4), "2345");
  ASSERT_TRUE(file.seek(100));
  EXPECT_EQ(file.read(found.data(), found.size()), 0u) << "behind the end";
  EXPECT_FALSE(file.seek(~std::size_t{0})) << "no file is so long";
}

TEST_F(FileReaderTest, FilesWhoseLengthIsNotKnown) {
  EXPECT_NE(read_file("/proc/self/maps", 1 << 20).find("[stack]"), std::string::npos);
}

TEST_F(FileReaderTest, NoFileIsNoBytes) {
  errno = 0;
  EXPECT_FALSE(FileReader("/no/such/file"));
  EXPECT_EQ(errno, ENOENT);
  EXPECT_EQ(read_file("/no/such/file", 100), "");
  EXPECT_EQ(read_file("/proc/self", 100), "") << "a folder";
}

}  // namespace
}  // namespace tf
