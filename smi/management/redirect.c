/* SPDX-License-Identifier: Apache-2.0
 * An audit library (rtld-audit(7)): where a program asks for AMD's librocm_smi64 or libamd_smi, the dynamic
 * loader gets ours.
 *
 * AMD's rocm-smi and amd-smi open their library by an absolute path beside themselves, which neither
 * LD_LIBRARY_PATH nor LD_PRELOAD changes. hip-remote run sets LD_AUDIT for such programs. The loader has its
 * own copy of this library and of the C library in a namespace of their own, so the program sees nothing of
 * it.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define EXPORTED __attribute__((visibility("default")))

struct library {
  const char* name;
  const char* newest; /* where no major is asked for, and no link says one */
};
static const struct library kLibraries[] = {{"librocm_smi64.so", ".7"}, {"libamd_smi.so", ".27"}};

EXPORTED unsigned int la_version(unsigned int version) {
  return version < LAV_CURRENT ? version : LAV_CURRENT;
}

/* Ours beside this file; null if there is none of that major. Valid until the next call, which copies it
 * first. */
static char* ours(const char* name, const char* major) {
  static __thread char path[4096];
  Dl_info self;
  if (dladdr((void*)&la_version, &self) == 0 || self.dli_fname == NULL) return NULL;
  const char* const slash = strrchr(self.dli_fname, '/');
  if (slash == NULL) return NULL;
  const int folder = (int)(slash - self.dli_fname);
  const int length = snprintf(path, sizeof path, "%.*s/%s%s", folder, self.dli_fname, name, major);
  return length > 0 && (size_t)length < sizeof path && access(path, R_OK) == 0 ? path : NULL;
}

/* The major and no more of ".so.1.0". Empty: it has none. */
static void major_of(const char* suffix, char* major, size_t bytes) {
  const char* const end = *suffix == '.' ? strchr(suffix + 1, '.') : NULL;
  const size_t length = end != NULL ? (size_t)(end - suffix) : strlen(suffix);
  snprintf(major, bytes, "%.*s", (int)(length < bytes ? length : 0), suffix);
}

static const char* base_of(const char* path) {
  const char* const slash = strrchr(path, '/');
  return slash != NULL ? slash + 1 : path;
}

/* A name without a major may be a link to one with it: the vendor's own, which the program was made for. */
static void major_of_link(const struct library* library, const char* path, char* major, size_t bytes) {
  static __thread char target[4096];
  const ssize_t length = readlink(path, target, sizeof target - 1);
  snprintf(major, bytes, "%s", library->newest);
  if (length <= 0) return;
  target[length] = '\0';
  const char* const base = base_of(target);
  const size_t known = strlen(library->name);
  if (strncmp(base, library->name, known) == 0 && base[known] == '.') major_of(base + known, major, bytes);
}

EXPORTED char* la_objsearch(const char* name, uintptr_t* cookie, unsigned int flag) {
  (void)cookie;
  if (flag != LA_SER_ORIG) return (char*)name;
  const char* const base = base_of(name);
  for (size_t each = 0; each < sizeof kLibraries / sizeof *kLibraries; ++each) {
    const struct library* const library = &kLibraries[each];
    const size_t known = strlen(library->name);
    if (strncmp(base, library->name, known) != 0) continue;
    char major[16];
    major_of(base + known, major, sizeof major);
    if (*major == '\0') major_of_link(library, name, major, sizeof major);
    char* const found = ours(library->name, major);
    return found != NULL ? found : (char*)name;
  }
  return (char*)name;
}
