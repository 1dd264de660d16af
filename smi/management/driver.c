/* SPDX-License-Identifier: Apache-2.0
 * Preloaded into AMD's management programs by hip-remote run: where this host has no amdgpu driver, its state
 * is that of the worker's devices, "live". rocm-smi and amd-smi read one file for that, and end at once if
 * there is none.
 *
 * Nothing else changes: a file that exists is opened as it is, and all other names are passed on.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#define EXPORTED __attribute__((visibility("default")))

static const char kState[] = "/sys/module/amdgpu/initstate";
static const char kLive[] = "live\n";

static int is_missing(const char* path, int failed) {
  return failed < 0 && errno == ENOENT && path != NULL && strcmp(path, kState) == 0;
}

/* What the file would be. Negative: the failure stays as it was. */
static int live(const char* path, int flags, int failed) {
  if (!is_missing(path, failed)) return failed;
  if ((flags & O_ACCMODE) != O_RDONLY) return failed;
  const int file = memfd_create("amdgpu-initstate", (flags & O_CLOEXEC) != 0 ? MFD_CLOEXEC : 0);
  if (file >= 0 && write(file, kLive, sizeof kLive - 1) == (ssize_t)(sizeof kLive - 1) &&
      lseek(file, 0, SEEK_SET) == 0)
    return file;
  if (file >= 0) close(file);
  errno = ENOENT;
  return failed;
}

/* struct stat64 is the same type under another name where files are large anyway, as on x86-64. */
_Static_assert(sizeof(struct stat) == sizeof(struct stat64), "one layout");

static int live_stat(const char* path, void* status, int failed) {
  if (!is_missing(path, failed)) return failed;
  const int file = live(path, O_RDONLY | O_CLOEXEC, failed);
  if (file < 0) return failed;
  const int found = fstat(file, status);
  close(file);
  return found;
}

static mode_t mode_of(int flags, va_list arguments) {
  const int has_mode = (flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE;
  return has_mode ? va_arg(arguments, mode_t) : 0;
}

#define DEFINE_OPEN(name)                                       \
  EXPORTED int name(const char* path, int flags, ...) {         \
    static int (*next)(const char*, int, ...);                  \
    if (next == NULL) *(void**)&next = dlsym(RTLD_NEXT, #name); \
    va_list arguments;                                          \
    va_start(arguments, flags);                                 \
    const mode_t mode = mode_of(flags, arguments);              \
    va_end(arguments);                                          \
    return live(path, flags, next(path, flags, mode));          \
  }
#define DEFINE_OPENAT(name)                                         \
  EXPORTED int name(int folder, const char* path, int flags, ...) { \
    static int (*next)(int, const char*, int, ...);                 \
    if (next == NULL) *(void**)&next = dlsym(RTLD_NEXT, #name);     \
    va_list arguments;                                              \
    va_start(arguments, flags);                                     \
    const mode_t mode = mode_of(flags, arguments);                  \
    va_end(arguments);                                              \
    return live(path, flags, next(folder, path, flags, mode));      \
  }

DEFINE_OPEN(open)
DEFINE_OPEN(open64)
DEFINE_OPENAT(openat)
DEFINE_OPENAT(openat64)

#define DEFINE_STAT(name, type)                                 \
  EXPORTED int name(const char* path, struct type* status) {    \
    static int (*next)(const char*, struct type*);              \
    if (next == NULL) *(void**)&next = dlsym(RTLD_NEXT, #name); \
    return live_stat(path, status, next(path, status));         \
  }
#define DEFINE_FSTATAT(name, type)                                                  \
  EXPORTED int name(int folder, const char* path, struct type* status, int flags) { \
    static int (*next)(int, const char*, struct type*, int);                        \
    if (next == NULL) *(void**)&next = dlsym(RTLD_NEXT, #name);                     \
    return live_stat(path, status, next(folder, path, status, flags));              \
  }

DEFINE_STAT(stat, stat)
DEFINE_STAT(stat64, stat64)
DEFINE_STAT(lstat, stat)
DEFINE_STAT(lstat64, stat64)
DEFINE_FSTATAT(fstatat, stat)
DEFINE_FSTATAT(fstatat64, stat64)
