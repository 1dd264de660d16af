// SPDX-License-Identifier: Apache-2.0
// Parses the file of known workers, and adds to it.
#include "transport/secure/known_workers.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <utility>

#include "transport/secure/file.h"
#include "transport/secure/key_file.h"

namespace tf::secure {
namespace {

Status take_line(std::string_view line, KnownWorkers::Entry& entry) {
  const std::string_view worker = take_word(line);
  if (worker.size() > kWorkerNameBytesMax) return invalid_argument("the address is too long");
  entry.worker = worker;
  if (take_word(line) != kKeyType) return invalid_argument("expected HOST:PORT ed25519 BASE64");
  const std::optional<PublicKey> key = parse_public_key(take_word(line));
  if (!key) return invalid_argument("this is not the base64 of a public key (44 characters)");
  if (!line.empty()) return invalid_argument("there is something behind the key");
  entry.key = *key;
  return Status::ok();
}

}  // namespace

Result<KnownWorkers> KnownWorkers::parse(std::string_view text) {
  KnownWorkers known;
  const Status status = for_each_line(text, [&](std::size_t number, std::string_view line) {
    Entry entry;
    entry.line = number;
    Status taken = take_line(line, entry);
    if (taken && known.entries_.size() == kKnownWorkersMax)
      taken = {Code::kResourceExhausted, "more than " + std::to_string(kKnownWorkersMax) + " workers"};
    if (!taken) return Status(taken.code(), "line " + std::to_string(number) + ": " + taken.message());
    known.entries_.push_back(std::move(entry));
    return taken;
  });
  if (!status) return status;
  return known;
}

Result<KnownWorkers> KnownWorkers::read(const std::string& path) {
  const Result<std::string> text = read_private_file(path, Privacy::kTrusted, kKnownBytesMax);
  if (text.code() == Code::kUnavailable) return KnownWorkers();
  if (!text) return text.status();
  Result<KnownWorkers> known = parse(text.value());
  if (!known) return Status(known.code(), path + ", " + known.status().message());
  return known;
}

// One write: two programs that meet a worker at the same time add whole lines. An editor may have left the
// last line without its end.
Status KnownWorkers::append(const std::string& path, std::string_view worker, const PublicKey& key) {
  TF_RETURN_IF_ERROR(make_folder_of(path));
  const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY, 0600);
  if (file < 0) return Status::from_errno(path, errno);
  const off_t size = ::lseek(file, 0, SEEK_END);
  char last = '\n';
  if (size > 0 && ::pread(file, &last, 1, size - 1) != 1) last = '\n';
  const std::string line = (last == '\n' ? "" : "\n") + std::string(worker) + " " + key.to_text() + "\n";
  const ssize_t wrote = ::write(file, line.data(), line.size());
  const int error = wrote < 0 ? errno : ENOSPC;
  ::close(file);
  return wrote == static_cast<ssize_t>(line.size()) ? Status::ok() : Status::from_errno(path, error);
}

KnownWorkers::Answer KnownWorkers::ask(std::string_view worker, const PublicKey& key) const {
  Answer answer = Answer::kNew;
  for (const Entry& entry : entries_) {
    if (entry.worker != worker) continue;
    if (entry.key == key) return Answer::kSame;
    answer = Answer::kChanged;
  }
  return answer;
}

const KnownWorkers::Entry* KnownWorkers::find(std::string_view worker) const {
  const auto found = std::ranges::find(entries_, worker, &Entry::worker);
  return found == entries_.end() ? nullptr : &*found;
}

}  // namespace tf::secure
