// SPDX-License-Identifier: Apache-2.0
// The standard's mutex and condition variable, annotated (thread_annotations.h). They cost what those cost.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <shared_mutex>

#include "transport/base/pause.h"
#include "transport/base/thread_annotations.h"

namespace tf {

class TF_CAPABILITY Mutex {
 public:
  Mutex() = default;
  Mutex(const Mutex&) = delete;
  Mutex& operator=(const Mutex&) = delete;

  void lock() TF_ACQUIRE() { mutex_.lock(); }
  bool try_lock() TF_TRY_ACQUIRE(true) { return mutex_.try_lock(); }
  void unlock() TF_RELEASE() { mutex_.unlock(); }

 private:
  friend class CondVar;
  std::mutex mutex_;
};

// For a few instructions, in which nobody blocks. Who finds it held waits for the holder for longer than
// that takes, before it sleeps: to sleep and be woken costs each of them microseconds, and where several
// threads meet they would do so in turn, again and again.
class TF_CAPABILITY BriefMutex {
 public:
  BriefMutex() = default;
  BriefMutex(const BriefMutex&) = delete;
  BriefMutex& operator=(const BriefMutex&) = delete;

  void lock() TF_ACQUIRE() {
    for (unsigned pauses = 1; pauses <= kPausesMax; pauses *= 2) {
      if (mutex_.try_lock()) return;
      for (unsigned each = 0; each < pauses; ++each) spin_pause();
    }
    mutex_.lock();
  }
  bool try_lock() TF_TRY_ACQUIRE(true) { return mutex_.try_lock(); }
  void unlock() TF_RELEASE() { mutex_.unlock(); }

 private:
  static constexpr unsigned kPausesMax = 32;  // 63 in all: 0.5 to 4 us, by processor

  std::mutex mutex_;
};

// Held by one writer (MutexLock) or by many readers (SharedLock).
class TF_CAPABILITY SharedMutex {
 public:
  SharedMutex() = default;
  SharedMutex(const SharedMutex&) = delete;
  SharedMutex& operator=(const SharedMutex&) = delete;

  void lock() TF_ACQUIRE() { mutex_.lock(); }
  void unlock() TF_RELEASE() { mutex_.unlock(); }
  void lock_shared() TF_ACQUIRE_SHARED() { mutex_.lock_shared(); }
  void unlock_shared() TF_RELEASE_SHARED() { mutex_.unlock_shared(); }

 private:
  std::shared_mutex mutex_;
};

// Holds a mutex of any kind to the end of its scope.
template <typename M>
class TF_SCOPED_CAPABILITY MutexLock {
 public:
  explicit MutexLock(M& mutex) TF_ACQUIRE(mutex) : mutex_(mutex) { mutex.lock(); }
  // This thread holds it already: after try_lock().
  MutexLock(M& mutex, std::adopt_lock_t) TF_REQUIRES(mutex) : mutex_(mutex) {}
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;
  ~MutexLock() TF_RELEASE() { mutex_.unlock(); }

 private:
  M& mutex_;
};

class TF_SCOPED_CAPABILITY SharedLock {
 public:
  explicit SharedLock(SharedMutex& mutex) TF_ACQUIRE_SHARED(mutex) : mutex_(mutex) { mutex.lock_shared(); }
  SharedLock(const SharedLock&) = delete;
  SharedLock& operator=(const SharedLock&) = delete;
  ~SharedLock() TF_RELEASE() { mutex_.unlock_shared(); }

 private:
  SharedMutex& mutex_;
};

// As MutexLock, and may release the mutex meanwhile.
template <typename M>
class TF_SCOPED_CAPABILITY UniqueLock {
 public:
  explicit UniqueLock(M& mutex) TF_ACQUIRE(mutex) : mutex_(mutex) { mutex.lock(); }
  UniqueLock(const UniqueLock&) = delete;
  UniqueLock& operator=(const UniqueLock&) = delete;
  ~UniqueLock() TF_RELEASE() {
    if (held_) mutex_.unlock();
  }

  void lock() TF_ACQUIRE() {
    mutex_.lock();
    held_ = true;
  }
  void unlock() TF_RELEASE() {
    held_ = false;
    mutex_.unlock();
  }

 private:
  M& mutex_;
  bool held_ = true;
};

// Releases a mutex to the end of its scope: for a function that its caller calls with the mutex held.
template <typename M>
class TF_SCOPED_CAPABILITY MutexUnlock {
 public:
  explicit MutexUnlock(M& mutex) TF_RELEASE(mutex) : mutex_(mutex) { mutex.unlock(); }
  MutexUnlock(const MutexUnlock&) = delete;
  MutexUnlock& operator=(const MutexUnlock&) = delete;
  ~MutexUnlock() TF_RELEASE() { mutex_.lock(); }  // so clang calls the end of any scoped capability

 private:
  M& mutex_;
};

// `mutex` is released while the thread sleeps, and held again afterwards. A predicate is a lambda that
// TF_REQUIRES the mutex.
class CondVar {
 public:
  void notify_one() { changed_.notify_one(); }
  void notify_all() { changed_.notify_all(); }

  void wait(Mutex& mutex) TF_REQUIRES(mutex) {
    Held held(mutex);
    changed_.wait(held.lock);
  }
  // Unchecked: the analysis does not know the predicate's mutex for this one.
  template <typename Predicate>
  void wait(Mutex& mutex, Predicate done) TF_REQUIRES(mutex) TF_UNCHECKED {
    while (!done()) wait(mutex);
  }
  template <typename Rep, typename Period>
  std::cv_status wait_for(Mutex& mutex, std::chrono::duration<Rep, Period> time) TF_REQUIRES(mutex) {
    Held held(mutex);
    return changed_.wait_for(held.lock, time);
  }
  template <typename Clock, typename Duration>
  std::cv_status wait_until(Mutex& mutex, std::chrono::time_point<Clock, Duration> when) TF_REQUIRES(mutex) {
    Held held(mutex);
    return changed_.wait_until(held.lock, when);
  }
  // Whether done(), in the end.
  template <typename Clock, typename Duration, typename Predicate>
  bool wait_until(Mutex& mutex, std::chrono::time_point<Clock, Duration> when, Predicate done)
      TF_REQUIRES(mutex) TF_UNCHECKED {
    while (!done())
      if (wait_until(mutex, when) == std::cv_status::timeout) return done();
    return true;
  }

 private:
  // The caller's hold, as the standard's condition variable wants to see it.
  struct Held {
    explicit Held(Mutex& mutex) : lock(mutex.mutex_, std::adopt_lock) {}
    ~Held() { lock.release(); }
    Held(const Held&) = delete;
    Held& operator=(const Held&) = delete;
    std::unique_lock<std::mutex> lock;
  };

  std::condition_variable changed_;
};

}  // namespace tf
