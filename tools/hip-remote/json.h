// SPDX-License-Identifier: Apache-2.0
// Writes JSON text, one flat object at a time. Values only; nothing is parsed here.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tf::tools {

// "text" with quotes and escapes.
std::string json_string(const std::string& text);
std::string json_array(const std::vector<std::string>& items);

class JsonObject {
 public:
  JsonObject& add(const std::string& key, const std::string& value) {
    return add_raw(key, json_string(value));
  }
  JsonObject& add(const std::string& key, const char* value) { return add_raw(key, json_string(value)); }
  JsonObject& add(const std::string& key, std::uint64_t value) { return add_raw(key, std::to_string(value)); }
  JsonObject& add(const std::string& key, bool value) { return add_raw(key, value ? "true" : "false"); }
  JsonObject& add(const std::string& key, double value);
  JsonObject& add_raw(const std::string& key, const std::string& json);
  std::string text() const { return "{" + members_ + "}"; }

 private:
  std::string members_;
};

}  // namespace tf::tools
