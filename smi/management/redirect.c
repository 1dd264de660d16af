/* SPDX-License-Identifier: Apache-2.0
 * An audit library (rtld-audit(7)): where a program asks for AMD's librocm_smi64, the dynamic loader gets
 * ours.
 *
 * AMD's rocm-smi opens its library by an absolute path beside itself, which neither LD_LIBRARY_PATH nor
 * LD_PRELOAD changes. hip-remote run sets LD_AUDIT for such programs. The loader has its own copy of this
 * library and of the C library in a namespace of their own, so the program sees nothing of it.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define EXPORTED __attribute__((visibility("default")))

static const char kName[] = "librocm_smi64.so";
static const char kNewest[] = ".7"; /* where no major is asked for */

EXPORTED unsigned int la_version(unsigned int version) {
  return version < LAV_CURRENT ? version : LAV_CURRENT;
}

/* Ours beside this file; null if there is none of that major. Valid until the next call, which copies it
 * first. */
static char* ours(const char* major) {
  static __thread char path[4096];
  Dl_info self;
  if (dladdr((void*)&la_version, &self) == 0 || self.dli_fname == NULL) return NULL;
  const char* const slash = strrchr(self.dli_fname, '/');
  if (slash == NULL) return NULL;
  const int folder = (int)(slash - self.dli_fname);
  const int length = snprintf(path, sizeof path, "%.*s/%s%s", folder, self.dli_fname, kName, major);
  return length > 0 && (size_t)length < sizeof path && access(path, R_OK) == 0 ? path : NULL;
}

/* The major and no more of ".so.1.0". Empty: it has none. */
static void major_of(const char* suffix, char* major, size_t bytes) {
  const char* const end = *suffix == '.' ? strchr(suffix + 1, '.') : NULL;
  const size_t length = end != NULL ? (size_t)(end - suffix) : strlen(suffix);
  snprintf(major, bytes, "%.*s", (int)(length < bytes ? length : 0), suffix);
}

EXPORTED char* la_objsearch(const char* name, uintptr_t* cookie, unsigned int flag) {
  (void)cookie;
  const char* const slash = strrchr(name, '/');
  const char* const base = slash != NULL ? slash + 1 : name;
  if (flag != LA_SER_ORIG || strncmp(base, kName, sizeof kName - 1) != 0) return (char*)name;
  char major[16];
  major_of(base + sizeof kName - 1, major, sizeof major);
  char* const found = ours(*major != '\0' ? major : kNewest);
  return found != NULL ? found : (char*)name;
}
