// SPDX-License-Identifier: Apache-2.0
// Encodes and decodes hiprtc programs and results, within their limits.
#include "hipcore/wire/rtc_program.h"

#include <utility>

#include "hipcore/wire/archive.h"

namespace tf::protocol {
namespace {

constexpr std::size_t kCountBytes = 4;  // in front of every text and list

template <typename Archive, typename Entries>
void visit_entries(Archive& archive, Entries& entries, std::size_t text_bytes_max) {
  if (!archive.elements(entries, kRtcWordsMax, 2 * kCountBytes)) return;
  for (auto& entry : entries) {
    archive.field(entry.name, kRtcWordBytesMax);
    archive.field(entry.text, text_bytes_max);
  }
}

template <typename Archive, typename Words>
void visit_words(Archive& archive, Words& words) {
  if (!archive.elements(words, kRtcWordsMax, kCountBytes)) return;
  for (auto& word : words) archive.field(word, kRtcWordBytesMax);
}

template <typename Archive, typename Program>
void visit_program(Archive& archive, Program& program) {
  archive.field(program.text, kRtcTextBytesMax);
  archive.field(program.name, kRtcWordBytesMax);
  visit_entries(archive, program.headers, kRtcTextBytesMax);
  visit_words(archive, program.options);
  visit_words(archive, program.name_expressions);
  visit_entries(archive, program.modules, kRtcProgramBytesMax);
}

template <typename Archive, typename Outcome>
void visit_result(Archive& archive, Outcome& outcome) {
  archive.field(outcome.result);
  archive.field(outcome.log, kRtcLogBytesMax);
  archive.field(outcome.code, kRtcCodeBytesMax);
  visit_entries(archive, outcome.lowered_names, kRtcWordBytesMax);
}

// Counts what an Encoder would write.
class Measure {
 public:
  template <WireNumber T>
  void field(const T&) {
    bytes_ += sizeof(T);
  }
  void field(const std::string& value, std::size_t) { bytes_ += kCountBytes + value.size(); }
  template <typename T>
  bool elements(const std::vector<T>&, std::size_t, std::size_t) {
    bytes_ += kCountBytes;
    return true;
  }
  std::size_t bytes() const { return bytes_; }

 private:
  std::size_t bytes_ = 0;
};

std::size_t text_bytes(const RtcProgram& program) {
  std::size_t bytes = program.text.size();
  for (const RtcEntry& header : program.headers) bytes += header.text.size();
  return bytes;
}

template <typename Visit>
Result<std::vector<std::byte>> encode_within(std::size_t bytes_max, Visit visit) {
  Measure measure;
  visit(measure);
  if (measure.bytes() > bytes_max) return Status(Code::kResourceExhausted, "hiprtc: more than can be sent");
  std::vector<std::byte> bytes(measure.bytes());
  Encoder encoder(bytes);
  visit(encoder);
  if (!encoder.status().is_ok()) return encoder.status();
  return bytes;
}

}  // namespace

Result<std::vector<std::byte>> encode(const RtcProgram& program) {
  if (text_bytes(program) > kRtcTextBytesMax)
    return Status(Code::kResourceExhausted, "hiprtc: source and headers are too large to be sent");
  return encode_within(kRtcProgramBytesMax, [&](auto& archive) { visit_program(archive, program); });
}

Result<std::vector<std::byte>> encode(const RtcResult& result) {
  return encode_within(kRtcResultBytesMax, [&](auto& archive) { visit_result(archive, result); });
}

Result<RtcProgram> decode_rtc_program(std::span<const std::byte> source) {
  RtcProgram program;
  Decoder decoder(source);
  visit_program(decoder, program);
  TF_RETURN_IF_ERROR(decoder.finish());
  if (text_bytes(program) > kRtcTextBytesMax) return Status(Code::kProtocol, "a program that is too large");
  return program;
}

Result<RtcResult> decode_rtc_result(std::span<const std::byte> source) {
  RtcResult result;
  Decoder decoder(source);
  visit_result(decoder, result);
  TF_RETURN_IF_ERROR(decoder.finish());
  return result;
}

}  // namespace tf::protocol
