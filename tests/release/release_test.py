# SPDX-License-Identifier: Apache-2.0
"""One release, wherever it is named: CHANGELOG.md, the metadata for software catalogues, Debian's packages, the chart,
and what programs say to --version.
release_test.py SOURCE-FOLDER BUILD-FOLDER VERSION"""
import email.utils
import os
import pathlib
import re
import shutil
import subprocess
import sys
import unittest
import xml.etree.ElementTree as tree

ROOT, BUILD, VERSION = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), sys.argv[3]
METADATA = ROOT / "packaging/metainfo/org.hip_remote.hip_remote.metainfo.xml"
CLEAN = {name: value for name, value in os.environ.items() if not name.startswith("TF_")}
sys.path.insert(0, str(ROOT / "docs"))
from reference import description  # noqa: E402


def read(*names):
    return (ROOT / pathlib.Path(*names)).read_text(encoding="utf-8")


def run(*command):
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False, env=CLEAN,
                          stdin=subprocess.DEVNULL)


class Release(unittest.TestCase):
    def setUp(self):
        self.changes = re.findall(r"^## (\S+)", read("CHANGELOG.md"), re.M)
        self.releases = tree.parse(METADATA).getroot().find("releases").findall("release")

    def test_the_newest_is_this_one(self):
        self.assertEqual(self.changes[0], VERSION)

    def test_metadata_has_the_releases_of_the_changelog(self):
        self.assertEqual([one.get("version") for one in self.releases], self.changes)
        dates = [one.get("date") for one in self.releases]
        self.assertEqual(dates, sorted(dates, reverse=True))

    def test_every_tag_is_a_release(self):
        tags = run("git", "-C", str(ROOT), "tag", "--list", "v*").stdout.split()
        self.assertEqual({tag[1:] for tag in tags} - set(self.changes), set())

    def test_debian(self):
        entry = re.match(r"hip-remote \((\S+)\) .*?^ -- .*?>  (.*?)$", read("debian/changelog"), re.S | re.M)
        self.assertEqual(entry.group(1), VERSION)
        day = email.utils.parsedate_to_datetime(entry.group(2)).date().isoformat()
        self.assertEqual(day, self.releases[0].get("date"))

    def test_chart(self):
        chart = dict(re.findall(r"^(\w+): (.*)$", read("packaging/chart/hip-remote/Chart.yaml"), re.M))
        self.assertEqual((chart["version"], chart["appVersion"]), (VERSION, VERSION))

    def test_every_program_says_it(self):
        for program in description.load().programs:
            path = BUILD / "bin" / program.name
            if program.name == "hip_bench" and not path.exists():
                continue  # without clang 14
            with self.subTest(program=program.name):
                done = run(path, "--version")
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertIn(f"{program.name} {VERSION}\n", done.stdout)

    @unittest.skipUnless(shutil.which("appstreamcli"), "appstreamcli is not installed")
    def test_catalogues_take_the_metadata(self):
        done = run("appstreamcli", "validate", "--no-net", "--pedantic", str(METADATA))
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertNotRegex(done.stdout, r"(?m)^[EWI]:")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
