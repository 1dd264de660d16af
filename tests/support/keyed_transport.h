// SPDX-License-Identifier: Apache-2.0
// A transport as it is in a session with keys. Where a test knows only tokens, it puts in a session that both
// ends know; the worker's end has lanes proven as a supervisor does.
#pragma once

#include <memory>

#include "transport/net/transport.h"

namespace tf::test {

// The transport it is made of must outlive it. Loads OpenSSL.
std::unique_ptr<net::Transport> make_keyed_transport(const net::Transport& inner, secure::Level level,
                                                     secure::Cipher cipher);

}  // namespace tf::test
