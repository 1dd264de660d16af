// SPDX-License-Identifier: Apache-2.0
// Writes JSON strings, arrays and objects.
#include "tools/hip-remote/json.h"

#include <cmath>
#include <cstdio>

namespace tf::tools {

std::string json_string(const std::string& text) {
  std::string out = "\"";
  for (char c : text) {
    switch (c) {
      case '"': out += "\\\""; break;
      case '\\': out += "\\\\"; break;
      case '\n': out += "\\n"; break;
      case '\t': out += "\\t"; break;
      default:
        if (static_cast<unsigned char>(c) < 0x20) {
          char escaped[8];
          std::snprintf(escaped, sizeof escaped, "\\u%04x", static_cast<unsigned>(c));
          out += escaped;
        } else {
          out += c;
        }
    }
  }
  return out + "\"";
}

std::string json_array(const std::vector<std::string>& items) {
  std::string out = "[";
  for (std::size_t index = 0; index < items.size(); ++index) out += (index == 0 ? "" : ",") + items[index];
  return out + "]";
}

JsonObject& JsonObject::add(const std::string& key, double value) {
  if (!std::isfinite(value)) return add_raw(key, "null");
  char number[40];
  std::snprintf(number, sizeof number, "%.6g", value);
  return add_raw(key, number);
}

JsonObject& JsonObject::add_raw(const std::string& key, const std::string& json) {
  if (!members_.empty()) members_ += ',';
  members_ += json_string(key) + ":" + json;
  return *this;
}

}  // namespace tf::tools
