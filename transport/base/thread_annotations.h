// SPDX-License-Identifier: Apache-2.0
// What mutexes guard, in words that clang checks (-Wthread-safety, preset "clang"). gcc sees nothing.
//
// A member that a mutex guards is TF_GUARDED_BY it, and a function that wants the mutex held TF_REQUIRES it.
// The mutexes themselves are in mutex.h. https://clang.llvm.org/docs/ThreadSafetyAnalysis.html
#pragma once

#if defined(__clang__)
#define TF_THREAD_ATTRIBUTE(attribute) __attribute__((attribute))
#else
#define TF_THREAD_ATTRIBUTE(attribute)
#endif

#define TF_CAPABILITY TF_THREAD_ATTRIBUTE(capability("mutex"))
#define TF_SCOPED_CAPABILITY TF_THREAD_ATTRIBUTE(scoped_lockable)
#define TF_GUARDED_BY(mutex) TF_THREAD_ATTRIBUTE(guarded_by(mutex))
#define TF_PT_GUARDED_BY(mutex) TF_THREAD_ATTRIBUTE(pt_guarded_by(mutex))  // what the pointer points to
#define TF_REQUIRES(...) TF_THREAD_ATTRIBUTE(requires_capability(__VA_ARGS__))
#define TF_REQUIRES_SHARED(...) TF_THREAD_ATTRIBUTE(requires_shared_capability(__VA_ARGS__))
#define TF_EXCLUDES(...) TF_THREAD_ATTRIBUTE(locks_excluded(__VA_ARGS__))
#define TF_ACQUIRE(...) TF_THREAD_ATTRIBUTE(acquire_capability(__VA_ARGS__))
#define TF_ACQUIRE_SHARED(...) TF_THREAD_ATTRIBUTE(acquire_shared_capability(__VA_ARGS__))
#define TF_RELEASE(...) TF_THREAD_ATTRIBUTE(release_capability(__VA_ARGS__))
#define TF_RELEASE_SHARED(...) TF_THREAD_ATTRIBUTE(release_shared_capability(__VA_ARGS__))
#define TF_TRY_ACQUIRE(...) TF_THREAD_ATTRIBUTE(try_acquire_capability(__VA_ARGS__))
#define TF_RETURN_CAPABILITY(mutex) TF_THREAD_ATTRIBUTE(lock_returned(mutex))  // an accessor of a mutex
// The body is not looked into. Say why, where it stands.
#define TF_UNCHECKED TF_THREAD_ATTRIBUTE(no_thread_safety_analysis)
