# SPDX-License-Identifier: Apache-2.0
"""What programs above the stand-in for HSA's runtime need of the machine."""
import ctypes.util
import pathlib

FOLDERS = [pathlib.Path(folder) for folder in ("/usr/lib/x86_64-linux-gnu", "/opt/rocm/lib")]  # Debian's and AMD's
MAJORS = (5, 6, 7)  # of AMD's library, which a worker loads; programs here are of HIP 5


def amd_folder():
    """Of AMD's own libamdhip64 for programs of HIP 5, or None."""
    return next((folder for folder in FOLDERS if (folder / "libamdhip64.so.5").exists()), None)


def amd_major():
    """Of the first of AMD's libraries that is here, or None."""
    return next((major for major in MAJORS for folder in FOLDERS
                 if (folder / f"libamdhip64.so.{major}").exists()), None)


def why_not(**libraries):
    """Why no test can run here, or None. `libraries`: those that tests load, with Debian's names of their packages."""
    if amd_folder() is None:
        return "no libamdhip64.so.5 of AMD's (libamdhip64-5)"
    return why_not_below(**libraries)


def why_not_below(**libraries):
    """The same where only a worker loads AMD's library, of any major."""
    if amd_major() is None:
        return "no libamdhip64 of AMD's"
    for name, package in libraries.items():
        if ctypes.util.find_library(name) is None:
            return f"no lib{name} ({package})"
    if "avx2" not in pathlib.Path("/proc/cpuinfo").read_text(encoding="ascii"):
        return "the interpreter of gfx90a code needs AVX2"
    return None
