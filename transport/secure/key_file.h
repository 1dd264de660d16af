// SPDX-License-Identifier: Apache-2.0
// The file of a secret key, of a client or a worker: PEM, readable by its owner only.
#pragma once

#include <string>

#include "transport/base/status.h"
#include "transport/secure/key.h"

namespace tf::secure {

// kUnavailable: there is no such file. Messages begin with the path, and never have a part of the key.
Result<SecretKey> read_key_file(const std::string& path);

// Makes the file, with the mode 0600 from its first moment, and the folder it lies in (0700) if that is
// missing. An existing file is never overwritten.
Status write_key_file(const std::string& path, const SecretKey& key);

// FILE in this user's folder for hip-remote's settings: $XDG_CONFIG_HOME/hip-remote, else
// ~/.config/hip-remote. Empty: the environment names neither.
std::string settings_file(const std::string& file);

// The folder of `path`, if it is missing.
Status make_folder_of(const std::string& path);

}  // namespace tf::secure
