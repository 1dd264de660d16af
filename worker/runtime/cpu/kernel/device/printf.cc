// SPDX-License-Identifier: Apache-2.0
// printf and assert of kernels. clang lowers printf for this target to begin / append calls (the text and its
// string arguments by append_string_n, numbers as 64-bit words by append_args); here they are gathered in one
// message per call and formatted when the last piece arrives.
//
// One message at a time per OS thread: the pieces follow each other without a barrier between them.
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "context.h"

#define API extern "C" __attribute__((visibility("hidden")))

extern "C" HiprContext* __hipr_context();

namespace {
constexpr uint32_t kMaxTextBytes = 4096;    // format and string arguments of one call
constexpr uint32_t kMaxOutputBytes = 8192;  // what one call can print; more is cut off
constexpr uint32_t kMaxArguments = 64;

struct Message {
  int32_t to_stderr;
  uint32_t text_bytes;
  uint32_t arguments;
  uint64_t values[kMaxArguments];
  char text[kMaxTextBytes];
};
thread_local Message message;

struct Output {
  char text[kMaxOutputBytes];
  uint32_t bytes;
};

// A conversion as found in the format: flags, width and precision kept, the length modifier replaced.
struct Conversion {
  char text[64];
  uint32_t bytes;
  char kind;
};

uint64_t next_value(uint32_t& index) { return index < message.arguments ? message.values[index++] : 0; }

// Reads "%...x" at `p`; '*' takes its number from the arguments. Returns the place after it.
const char* read_conversion(const char* p, Conversion& c, uint32_t& index) {
  c.bytes = 0;
  c.text[c.bytes++] = *p++;
  for (; *p && !strchr("diouxXeEfFgGaAcspn%", *p); ++p) {
    if (strchr("hlqjzt", *p) || c.bytes > 40) continue;
    if (*p == '*') {
      c.bytes +=
          static_cast<uint32_t>(snprintf(c.text + c.bytes, 12, "%d", static_cast<int>(next_value(index))));
    } else {
      c.text[c.bytes++] = *p;
    }
  }
  c.kind = *p;
  return *p ? p + 1 : p;
}

// Whether the integer at this conversion was passed as 64 bits ("%ld", "%zu", ...).
bool is_long(const char* begin, const char* end) {
  for (; begin < end; ++begin) {
    if (strchr("lqjzt", *begin)) return true;
  }
  return false;
}

int format_value(Conversion& c, bool wide, uint32_t& index, char* to, size_t room) {
  const auto finish = [&c](const char* tail) { strcpy(c.text + c.bytes, tail); };
  char tail[4] = {'l', 'l', c.kind, 0};
  if (strchr("di", c.kind)) {
    const int64_t value = static_cast<int64_t>(next_value(index));
    finish(tail);
    return snprintf(to, room, c.text, wide ? static_cast<long long>(value) : static_cast<int32_t>(value));
  }
  if (strchr("ouxX", c.kind)) {
    const uint64_t value = next_value(index);
    finish(tail);
    return snprintf(to, room, c.text,
                    static_cast<unsigned long long>(wide ? value : static_cast<uint32_t>(value)));
  }
  const char plain[2] = {c.kind, 0};
  finish(plain);
  const uint64_t bits = next_value(index);
  if (c.kind == 'c') return snprintf(to, room, c.text, static_cast<int>(bits));
  if (c.kind == 'p') return snprintf(to, room, c.text, reinterpret_cast<void*>(bits));
  double value;
  memcpy(&value, &bits, sizeof value);
  return snprintf(to, room, c.text, value);
}

// Returns what printf does: the characters printed.
uint64_t flush() {
  Output out;
  out.bytes = 0;
  uint32_t index = 0;
  const char* strings = message.text + strlen(message.text) + 1;
  const char* const strings_end = message.text + message.text_bytes;
  for (const char* p = message.text; *p && out.bytes + 1 < kMaxOutputBytes;) {
    if (*p != '%') {
      out.text[out.bytes++] = *p++;
      continue;
    }
    Conversion c;
    const char* const start = p;
    p = read_conversion(p, c, index);
    if (c.kind == 0 || c.kind == 'n') continue;
    const size_t room = kMaxOutputBytes - out.bytes;
    int wrote = 0;
    if (c.kind == '%') {
      wrote = snprintf(out.text + out.bytes, room, "%%");
    } else if (c.kind == 's') {
      const char* text = strings < strings_end ? strings : "";
      strings += strlen(text) + 1;
      strcpy(c.text + c.bytes, "s");
      wrote = snprintf(out.text + out.bytes, room, c.text, text);
    } else {
      wrote = format_value(c, is_long(start, p), index, out.text + out.bytes, room);
    }
    if (wrote > 0)
      out.bytes +=
          static_cast<size_t>(wrote) < room ? static_cast<uint32_t>(wrote) : static_cast<uint32_t>(room) - 1;
  }
  HiprContext* c = __hipr_context();
  c->services->print(c, message.to_stderr, out.text, out.bytes);
  return out.bytes;
}

uint64_t begin(int32_t to_stderr) {
  message.to_stderr = to_stderr;
  message.text_bytes = message.arguments = 0;
  message.text[0] = 0;
  return 0;
}
uint64_t append_string(const char* data, uint64_t bytes, uint32_t is_last) {
  const uint32_t room = kMaxTextBytes - message.text_bytes - 1;
  const uint32_t take = bytes < room ? static_cast<uint32_t>(bytes) : room;
  if (data) memcpy(message.text + message.text_bytes, data, take);
  message.text_bytes += data ? take : 0;
  // Always ended, also where the caller's count leaves the end out.
  if (message.text_bytes == 0 || message.text[message.text_bytes - 1] != 0)
    message.text[message.text_bytes++] = 0;
  if (message.text_bytes >= kMaxTextBytes) message.text_bytes = kMaxTextBytes - 1;
  return is_last ? flush() : 0;
}
}  // namespace

API uint64_t __ockl_printf_begin(uint64_t) { return begin(0); }
API uint64_t __ockl_fprintf_stderr_begin() { return begin(1); }
API uint64_t __ockl_printf_append_string_n(uint64_t, const char* data, uint64_t bytes, uint32_t is_last) {
  return append_string(data, bytes, is_last);
}
API uint64_t __ockl_fprintf_append_string_n(uint64_t, const char* data, uint64_t bytes, uint32_t is_last) {
  return append_string(data, bytes, is_last);
}
API uint64_t __ockl_printf_append_args(uint64_t, uint32_t count, uint64_t v0, uint64_t v1, uint64_t v2,
                                       uint64_t v3, uint64_t v4, uint64_t v5, uint64_t v6, uint32_t is_last) {
  const uint64_t values[] = {v0, v1, v2, v3, v4, v5, v6};
  for (uint32_t i = 0; i < count && i < 7 && message.arguments < kMaxArguments; ++i) {
    message.values[message.arguments++] = values[i];
  }
  return is_last ? flush() : 0;
}
API uint64_t __ockl_fprintf_append_args(uint64_t d, uint32_t count, uint64_t v0, uint64_t v1, uint64_t v2,
                                        uint64_t v3, uint64_t v4, uint64_t v5, uint64_t v6,
                                        uint32_t is_last) {
  return __ockl_printf_append_args(d, count, v0, v1, v2, v3, v4, v5, v6, is_last);
}
