#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What arrows.py reports: sources and CMake files that break a rule, and such that keep it."""
import pathlib
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import arrows  # noqa: E402


def reports(check, *arguments):
    found = []
    check(*arguments, lambda path, line, rule, what: found.append(f"{path}:{line}: {rule}: {what}"))
    return found


def of_include(path, line):
    return reports(arrows.check_includes, path, ["// A comment.", line])


def of_cmake(**files):
    """`files`: a folder's name, with __ for the slashes -> its CMakeLists.txt, or (name, text)."""
    with tempfile.TemporaryDirectory() as root:
        for folder, text in files.items():
            name, text = text if isinstance(text, tuple) else ("CMakeLists.txt", text)
            place = pathlib.Path(root, *folder.split("__"))
            place.mkdir(parents=True)
            (place / name).write_text(text)
        return reports(arrows.check_cmake, pathlib.Path(root))


class Includes(unittest.TestCase):
    def test_upward_is_reported_and_downward_is_not(self):
        self.assertEqual(of_include("worker/session/x.cc", '#include "worker/base/x.h"'), [])
        for line in ('#include "worker/session/x.h"', '  #  include <worker/session/x.h>', '#include "proxy/base/x.h"',
                     '#include "worker/newroom/x.h"', '#include <tests/support/x.h>', '#include "../session/x.h"'):
            [report] = of_include("worker/base/x.cc", line)
            self.assertTrue(report.startswith("worker/base/x.cc:2: include direction: "), report)

    def test_other_peoples_headers_are_theirs(self):
        for line in ("#include <sys/socket.h>", "#include <infiniband/verbs.h>", "#include <vector>", '#include "x.h"'):
            self.assertEqual(of_include("transport/base/x.cc", line), [])

    def test_a_folder_without_a_rule_is_reported(self):
        for path in ("worker/x.cc", "worker/newroom/x.cc", "hipcore/newroom/x.h", "proxy/x.cc", "newtop/x.cc", "x.cc"):
            [report] = of_include(path, "int x;")
            self.assertTrue(report.startswith(f"{path}:1: no arrows: "), report)
        self.assertEqual(of_include("tests/anywhere/x.cc", '#include "proxy/base/x.h"'), [])


class Links(unittest.TestCase):
    BASE = "tf_library(tf_base SOURCES x.cc)"
    FACTORY = "tf_library(tf_factory SOURCES x.cc)"

    def one(self, start, **files):
        [report] = of_cmake(**files)
        self.assertTrue(report.startswith(start), report)

    def test_upward_is_reported_and_downward_is_not(self):
        self.assertEqual(of_cmake(transport__base=self.BASE, shm="tf_library(tf_shm SOURCES x.cc DEPENDS tf_base)"), [])
        for line in ("tf_library(tf_base SOURCES x.cc DEPENDS tf_shm)",
                     self.BASE + "\ntarget_link_libraries(tf_base PRIVATE $<BUILD_INTERFACE:tf_shm>)",
                     self.BASE + '\nadd_dependencies(tf_base "tf_shm")',
                     "tf_library(tf_base SOURCES x.cc DEPENDS $<$<CONFIG:Debug>:$<LINK_LIBRARY:WHOLE,tf_shm>>)"):
            self.one("transport/base/CMakeLists.txt:", transport__base=line, shm="add_library(tf_shm x.cc)")

    def test_a_target_named_by_a_variable_speaks_for_its_folder(self):
        shipped = "function(f name)\n  add_library(${name} SHARED)\n  target_link_libraries(${name} PRIVATE %s)\n" \
                  "endfunction()"
        self.one("worker/runtime/cpu/CMakeLists.txt:3: link direction: ${name}",
                 worker__runtime__cpu=shipped % "tf_factory", transport__factory=self.FACTORY)
        self.assertEqual(of_cmake(worker__runtime__cpu=shipped % "tf_base", transport__base=self.BASE), [])
        self.one("worker/CMakeLists.txt:1: link direction: tf_worker",
                 worker="tf_library(tf_worker SOURCES base/x.cc DEPENDS tf_part_${major})",
                 proxy="tf_library(tf_part_${major} SOURCES copy/x.cc)")

    def test_a_target_of_several_rooms_is_all_of_theirs(self):
        core = "tf_library(tf_core SOURCES base/x.cc session/x.cc DEPENDS %s)"
        self.assertEqual(of_cmake(proxy=core % "tf_factory", transport__factory=self.FACTORY), [])
        self.one("proxy/CMakeLists.txt:1: link direction: tf_core is proxy/base, proxy/session's",
                 proxy=core % "tf_graph", hipcore__graph="tf_library(tf_graph SOURCES x.cc)")
        self.one("proxy/CMakeLists.txt:2: link direction: tf_stats is proxy/stats's, which may not link tf_core of "
                 "proxy/session",
                 proxy="tf_library(tf_core SOURCES base/x.cc session/x.cc)\n"
                       "tf_library(tf_stats SOURCES stats/x.cc DEPENDS tf_core)")

    def test_sources_of_another_room_are_reported(self):
        for line in ("tf_library(tf_shm SOURCES x.cc ../tcp/x.cc)",
                     "tf_library(tf_shm SOURCES ${CMAKE_SOURCE_DIR}/tcp/x.cc)",
                     "set(more ../tcp/x.cc)\ntf_library(tf_shm SOURCES x.cc ${more})",
                     "tf_library(tf_shm SOURCES x.cc)\ntarget_sources(tf_shm PRIVATE ../tcp/x.cc)"):
            self.one("shm/CMakeLists.txt:", shm=line)
        self.assertEqual(of_cmake(shm="tf_library(tf_shm SOURCES x.cc ../transport/x.cc)"), [])

    def test_included_cmake_files_are_read(self):
        self.one("worker/runtime/common/front.cmake:2: link direction: ${name}", worker__runtime__common=(
            "front.cmake", "function(f name)\n  target_sources(${name} PRIVATE ../cpu/x.cc)\nendfunction()"))

    def test_a_folder_without_a_rule_is_reported(self):
        self.one("newtop/CMakeLists.txt:1: no arrows: tf_new", newtop="tf_library(tf_new SOURCES x.cc)")
        self.assertEqual(of_cmake(tests__new="tf_library(tf_new SOURCES x.cc)"), [])


if __name__ == "__main__":
    unittest.main()
