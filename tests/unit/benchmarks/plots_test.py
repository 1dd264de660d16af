#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Pictures of benchmarks: a mark for each size, titles, and nothing that lies over something else.
plots_test.py BENCH-PLOT [HIP-REMOTE HIP-BENCH]   (the latter two: a quick run on the CPU runtime is drawn, too)
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree as xml

PLOT, RUN = sys.argv[1], sys.argv[2:]
SVG = '{http://www.w3.org/2000/svg}'
SIZES = [64 << 2 * shift for shift in range(13)]  # 64 B to 1 GiB
LETTER = 0.62  # of the font size, about the mean width


def rows(metrics, unit='GB/s', sizes=SIZES, factor=1.0):
    return [{'bench': 'x', 'transport': transport, 'metric': metric, 'bytes': size, 'unit': unit,
             'value': factor * (index + 1) * (place + 1), 'limit': factor * 100, 'limit_name': 'a & b < c',
             'p50': 1, 'p99': 1}
            for place, (transport, metric) in enumerate(metrics) for index, size in enumerate(sizes)]


class Picture:
    def __init__(self, path):
        self.root = xml.parse(path).getroot()
        self.width, self.height = float(self.root.get('width')), float(self.root.get('height'))
        self.texts = [one.text or '' for one in self.root.iter(SVG + 'text')]

    def lines(self):
        """Points of each curve; those of the legend have two."""
        found = [one.get('points').split() for one in self.root.iter(SVG + 'polyline')]
        return [points for points in found if len(points) != 2]

    def marks(self):
        return len(list(self.root.iter(SVG + 'path'))) + len(list(self.root.iter(SVG + 'circle')))

    def boxes(self):
        """Of every text: left, top, right, bottom; turned ones are left out."""
        for one in self.root.iter(SVG + 'text'):
            if one.get('transform'):
                continue
            size = float(one.get('font-size', '12'))
            width = len(one.text or '') * size * LETTER
            left = float(one.get('x')) - {'middle': width / 2, 'end': width}.get(one.get('text-anchor'), 0)
            bottom = float(one.get('y'))
            yield one.text, (left, bottom - size * 0.8, left + width, bottom + size * 0.2)


class Plots(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = os.path.join(folder.name, 'plot.svg')

    def draw(self, made, *words, code=0):
        text = '\n'.join(json.dumps(row, separators=(',', ':')) for row in made)
        done = subprocess.run([PLOT, *words, self.path], input=text, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, code, done.stderr)
        return Picture(self.path) if code == 0 else done.stderr

    def readable(self, picture):
        boxes = list(picture.boxes())
        for text, (left, top, right, bottom) in boxes:
            self.assertTrue(left >= 0 and top >= 0 and right <= picture.width and bottom <= picture.height, text)
        for index, (text, one) in enumerate(boxes):
            for other_text, other in boxes[index + 1:]:
                apart = one[2] <= other[0] or other[2] <= one[0] or one[3] <= other[1] or other[3] <= one[1]
                self.assertTrue(apart, '"%s" lies over "%s"' % (text, other_text))

    def test_a_mark_for_every_size(self):
        picture = self.draw(rows([('shm', 'h2d_pinned'), ('shm', 'd2h_pinned')]), '--title', 'Copies')
        self.assertEqual([len(points) for points in picture.lines()], [13, 13, 13])  # and the limit
        self.assertEqual(picture.marks(), 3 * (13 + 1))  # and one in each row of the legend
        for text in ('Copies', '64 B', '1 GiB', 'size', 'bandwidth in GB/s (more is better)', 'host to device, pinned',
                     'device to host, pinned', 'limit: a & b < c'):
            self.assertIn(text, picture.texts)

    def test_machine_day_and_commit(self):
        picture = self.draw(rows([('shm', 'x')]), '--note', 'and why not')
        self.assertTrue(any(re.search(r'\d processors?, .* GiB of memory; \d{4}-\d\d-\d\d; hip-remote commit \w+', text)
                            for text in picture.texts), picture.texts)
        self.assertIn('and why not', picture.texts)

    def test_times_have_their_units(self):
        picture = self.draw(rows([('shm', 'round_trip')], 'ns', SIZES[:6], 700.0), '--unit', 'ns')
        self.assertIn('time (less is better)', picture.texts)
        self.assertTrue({'1 us', '10 us'} <= set(picture.texts), picture.texts)
        self.assertEqual(len(set(picture.texts)), len(picture.texts))

    def test_nothing_lies_over_something_else(self):
        many = [('a transport with a long name %d' % number, 'bulk_send') for number in range(9)]
        for made, unit in ((rows(many), 'GB/s'), (rows([('tcp', 'h2d_pinned')], factor=1e-5), 'GB/s'),
                           (rows([('tcp', 'x')], 'ns', factor=1e6), 'ns'), (rows([('tcp', 'x')], sizes=[4096]), 'GB/s'),
                           (rows([('tcp', 'x')], sizes=[64 << shift for shift in range(25)]), 'GB/s')):
            self.readable(self.draw(made, '--title', 'T', '--unit', unit))

    def test_nothing_to_draw(self):
        self.assertIn('no rows', self.draw([], code=1))
        self.draw([], '--unit', 'km', code=2)

    @unittest.skipUnless(RUN, 'hip_bench is not in this build')
    def test_usage_errors_end_with_2(self):
        folder = pathlib.Path(PLOT).parent
        for words in (['hip_bench', '--nosuch'], ['transport_bench', '--placement', 'x'], ['hip_load', '--nosuch'],
                      ['bench_plot']):
            done = subprocess.run([folder / words[0], *words[1:]], capture_output=True, text=True, check=False,
                                  stdin=subprocess.DEVNULL)
            self.assertEqual(done.returncode, 2, (words, done.stderr))

    @unittest.skipUnless(RUN, 'hip_bench is not in this build')
    def test_a_quick_run_has_twelve_sizes(self):
        command = [RUN[0], 'run', '--native', '--', RUN[1], '--quick', '--metric', 'h2d', '--plot', self.path]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        picture = Picture(self.path)
        self.readable(picture)
        self.assertEqual({len(points) for points in picture.lines()}, {12}, picture.texts)
        self.assertIn('a quick run: sizes above 256 MiB are left out', picture.texts)
        self.assertNotIn('256 B', done.stdout)  # the table has three sizes
        commit = (pathlib.Path(RUN[1]).parent.parent / 'share' / 'hip-remote' / 'commit').read_text().strip()
        self.assertTrue(any(commit in text for text in picture.texts), picture.texts)


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1], verbosity=2)
