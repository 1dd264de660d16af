// SPDX-License-Identifier: Apache-2.0
// How a command line is read, and what is said of one that is wrong.
#include "tools/command_line/command_line.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include "reference/gen/programs.h"

namespace tf::reference {
namespace {

namespace run = hip_remote::run;

// Of hip-remote or hip-worker.
struct Read {
  explicit Read(const Program& program, std::vector<std::string_view> words)
      : line(program), status(line.read(words)) {}
  CommandLine line;
  Status status;
};
Read remote(std::vector<std::string_view> words) { return Read(hip_remote::kProgram, std::move(words)); }
Read worker(std::vector<std::string_view> words) { return Read(hip_worker::kProgram, std::move(words)); }

using Words = std::vector<std::string>;

TEST(CommandLine, FormsOfAnOption) {
  for (const auto& words :
       std::vector<std::vector<std::string_view>>{{"run", "--transport", "tcp", "app"},
                                                  {"run", "--transport=tcp", "app"},
                                                  {"run", "-t", "tcp", "app"},
                                                  {"run", "-ttcp", "app"},
                                                  {"run", "-t=tcp", "app"},
                                                  {"run", "-vlttcp", "app"},
                                                  {"run", "-t", "shm", "-t", "tcp", "app"}}) {
    const Read read = remote(words);
    ASSERT_TRUE(read.status) << read.status.message();
    EXPECT_EQ(read.line.text(run::kTransport), "tcp");
    EXPECT_EQ(read.line.rest(), Words{"app"});
  }
}

TEST(CommandLine, WhereTheProgramBegins) {
  EXPECT_EQ(remote({"run", "-l", "app", "-l", "--", "x"}).line.rest(), (Words{"app", "-l", "--", "x"}));
  EXPECT_EQ(remote({"run", "-l", "--", "--app", "-l"}).line.rest(), (Words{"--app", "-l"}));
  EXPECT_EQ(remote({"run", "-"}).line.rest(), Words{"-"});
  EXPECT_EQ(remote({"run", "app", "[x,y]", "run", "--", ""}).line.rest(),
            (Words{"app", "[x,y]", "run", "--", ""}));
  EXPECT_TRUE(remote({"run", "--"}).line.rest().empty());
}

TEST(CommandLine, ListsAndOptionalValues) {
  EXPECT_EQ(remote({"bench", "-t", "shm,tcp", "-t", "rdma"}).line.list(hip_remote::bench::kTransport),
            (Words{"shm", "tcp", "rdma"}));
  EXPECT_FALSE(remote({"bench", "-t", "shm,"}).status);
  const Read without = remote({"run", "--stats", "app"});
  EXPECT_TRUE(without.line.has(run::kStats));
  EXPECT_EQ(without.line.text(run::kStats), "");
  EXPECT_EQ(remote({"run", "--stats=f", "app"}).line.text(run::kStats), "f");
}

TEST(CommandLine, AMissingValueIsNotTheNextWord) {
  for (const auto& words : std::vector<std::vector<std::string_view>>{{"run", "--worker=", "app"},
                                                                      {"run", "--worker", "--", "app"},
                                                                      {"run", "--worker", "--local", "app"},
                                                                      {"run", "-w"},
                                                                      {"run", "-w="},
                                                                      {"run", "--worker", "", "app"}})
    EXPECT_EQ(remote(words).status.message(), "--worker needs a value: ADDRESS");
}

TEST(CommandLine, AFlagTakesNoValueNotEvenAnEmptyOne) {
  EXPECT_EQ(remote({"run", "--local=", "app"}).status.message(), "--local takes no value");
  EXPECT_EQ(remote({"run", "--local=1", "app"}).status.message(), "--local takes no value");
  EXPECT_EQ(worker({"--quiet="}).status.message(), "--quiet takes no value");
  EXPECT_FALSE(remote({"run", "-l=", "app"}).status);
  EXPECT_EQ(remote({"run", "--local", "--worker=", "app"}).status.message(),
            "--worker needs a value: ADDRESS");
}

TEST(CommandLine, AValueIsTakenAsItStands) {
  const auto stats = [](std::string_view word) {
    return remote({"run", word, "app"}).line.text(run::kStats);
  };
  EXPECT_EQ(stats("--stats==f"), "=f");
  EXPECT_EQ(stats("--stats={}"), "{}");
  EXPECT_EQ(stats("--stats=[a,b]"), "[a,b]");
  EXPECT_EQ(stats("--stats=--stats=f"), "--stats=f");
  EXPECT_EQ(stats("--stats=\"f\""), "\"f\"");
  for (const std::string_view value : {"{}", "[a,b]", "=h", "'h'", "%%"}) {
    EXPECT_EQ(remote({"run", "--worker", value, "app"}).line.text(run::kWorker), value);
    EXPECT_EQ(remote({"run", "-w", value, "app"}).line.text(run::kWorker), value);
  }
  EXPECT_EQ(remote({"run", "-w=h", "app"}).line.text(run::kWorker), "h");
  EXPECT_EQ(remote({"run", "-wh=", "app"}).line.text(run::kWorker), "h=");
}

TEST(CommandLine, NothingStandsBetweenAProgramAndItsCommand) {
  const std::string message = remote({"--", "run", "app"}).status.message();
  EXPECT_TRUE(message.starts_with("there is no command \"--\"; expected ")) << message;
}

TEST(CommandLine, HelpAndVersionComeFirst) {
  EXPECT_TRUE(remote({"--help"}).line.wants_help());
  EXPECT_TRUE(remote({"run", "-h", "--nosuch"}).line.wants_help());
  EXPECT_TRUE(remote({"--version"}).line.wants_version());
  EXPECT_FALSE(remote({"run", "--version"}).status) << "the program's, not the command's";
  EXPECT_FALSE(remote({"run", "--", "--help"}).line.wants_help());
}

TEST(CommandLine, Numbers) {
  EXPECT_EQ(worker({"--port", "0"}).line.number(hip_worker::kPort, 1), 0);
  EXPECT_EQ(worker({}).line.number(hip_worker::kSpares, 1), 1);
  for (const std::string_view text : {"-1", "65536", "1x", "0x10", "99999999999999999999", "+1", " 1"})
    EXPECT_EQ(worker({"--port", text}).status.code(), Code::kInvalidArgument) << text;
}

TEST(CommandLine, VariablesStandForOptions) {
  ::setenv("TF_WORKER_PORT", "7", 1);
  EXPECT_EQ(worker({}).line.number(hip_worker::kPort, 1), 7);
  EXPECT_EQ(worker({"--port", "8"}).line.number(hip_worker::kPort, 1), 8);
  ::setenv("TF_WORKER_PORT", "seven", 1);
  EXPECT_EQ(worker({}).status.message(), "TF_WORKER_PORT seven: expected a number from 0 to 65535");
  EXPECT_TRUE(worker({"--port", "8"}).status) << "nobody looks at it";
  ::setenv("TF_WORKER_PORT", "", 1);
  EXPECT_EQ(worker({}).line.number(hip_worker::kPort, 1), 1);
  ::unsetenv("TF_WORKER_PORT");
  for (const auto& [value, on] :
       std::vector<std::pair<const char*, bool>>{{"1", true}, {"0", false}, {"", false}}) {
    ::setenv("TF_DEBUG", value, 1);
    EXPECT_EQ(worker({}).line.has(hip_worker::kVerbose), on) << value;
  }
  ::setenv("TF_DEBUG", "1", 1);
  EXPECT_TRUE(worker({"--quiet"}).status) << "only what was typed excludes";
  ::unsetenv("TF_DEBUG");
  ::setenv("TF_WORKER_SOCKET", "@x", 1);
  EXPECT_TRUE(worker({"--no-tcp"}).status) << "the socket is there";
  ::unsetenv("TF_WORKER_SOCKET");
}

TEST(CommandLine, WhatIsMostAlike) {
  const std::string_view words[] = {"--transport", "--worker", "run"};
  EXPECT_EQ(most_like("--trasport", words), "--transport");
  EXPECT_EQ(most_like("rnu", words), "run");
  EXPECT_EQ(most_like("xyz", words), "");
  EXPECT_EQ(most_like("", words), "");
  EXPECT_EQ(most_like(std::string(100'000, 'x'), words), "");
}

TEST(CommandLine, AnythingAtAllIsAnswered) {
  const std::string_view pieces[] = {"-",     "--",  "---",    "--=",      "-=",       "--worker=", "-w",
                                     "\xff",  "",    "run",    "--stats=", "-t",       ",",         "--rtt",
                                     "bench", "-h=", "--port", "{}",       "--local=", "--stats={}"};
  for (const std::string_view a : pieces)
    for (const std::string_view b : pieces)
      for (const std::string_view c : pieces) {
        const Read read = remote({a, b, c});
        EXPECT_TRUE(read.status.is_ok() || !read.status.message().empty());
        (void)worker({a, b, c});
      }
}

}  // namespace
}  // namespace tf::reference
