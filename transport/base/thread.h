// SPDX-License-Identifier: Apache-2.0
// The library's own threads inside another program: they take no signals, and if the system refuses a thread
// the result is false, not an exception.
#pragma once

#include <pthread.h>
#include <csignal>

#include <system_error>
#include <thread>
#include <utility>

namespace tf {

template <typename Body>
bool start_thread(std::thread& thread, const char* name, Body body) {
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  bool started = true;
  try {
    thread = std::thread(std::move(body));
    pthread_setname_np(thread.native_handle(), name);
  } catch (const std::system_error&) {
    started = false;
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return started;
}

}  // namespace tf
