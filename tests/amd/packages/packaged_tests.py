#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Packaged tests of AMD's libraries, of Debian 13, sid and experimental, unmodified, and programs of ours above those
libraries, natively and through hip-remote: rows for the table of docs/fidelity.md, whose remarks in parentheses are by
hand. By hand: it downloads packages and takes a while."""
import argparse
import dataclasses
import json
import os
import pathlib
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[3]
HELP = """Needs root, mmdebstrap, and a whole build of hip-remote. AMD's libamdhip64 (5.7.1; of sid 6.4.3, of
experimental 7.2.4) runs natively and below hip-worker, above the stand-in of tests/amd/hsa: the device is the host's
cores, which interpret gfx90a code (gfx1100 code where a row says so), and no AMD hardware takes part. Case by case,
as tools/fidelity does; a case that does not end in its time in any way is counted as such.

examples:
  tests/amd/packages/packaged_tests.py --list
  tests/amd/packages/packaged_tests.py                 everything, the table on standard output
  tests/amd/packages/packaged_tests.py rocfft-test --json > rocfft.jsonl
exit codes: 0 no case differs, 1 one does, 2 the command line is wrong or nothing ran."""
FOLDER = '/usr/libexec/rocm'  # packages put test programs into a folder of their name there
OURS = ROOT / 'tests/amd/packages/programs'  # above libraries whose packaged tests are too slow here, or none
# What Debian 13 has no more and a build on Debian 12 loads.
CARRIED = ('libfmt.so.9',)
ALWAYS = ('libllvm19', 'python3-minimal', 'libpython3-stdlib')  # the stand-in's disassembler, tools/fidelity
# gfx1100's code addresses halves of registers there.
NEWER_DISASSEMBLER = {(suite, 'gfx1100'): ('libllvm21',) for suite in ('sid', 'experimental')}
WAYS = ('native', 'shm', 'tcp')
SUITES = ('trixie', 'sid', 'experimental')


@dataclasses.dataclass(frozen=True)
class Tests:
    package: str
    program: str
    cases: tuple = ('*',)  # patterns; those that take seconds
    timeout_s: int = 40    # of one case, or of all together
    ours: bool = False     # a program in OURS
    suite: str = 'trixie'
    agents: int = 1  # devices of the stand-in
    isa: str = 'gfx90a'  # what they are
    walls: bool = True  # False: the stand-in opens other processes' memory by their files, which walls hide
    together: bool = False  # all cases in one process each way: the library takes long to load, or they are many

    def folder(self):
        return OURS if self.ours else f'{FOLDER}/{self.package.split()[0]}'

    def filters(self):
        names = [self.program] if self.cases == ('*',) else [f'{self.program}:{case}' for case in self.cases]
        return [word for name in names for word in ('--filter', name)]


# Small problems, in each precision, batched and not: a number of a case as the programs list them.
SOLVER = {'GETRF': 12, 'GETRS': 10, 'POTRF': 8, 'GEQRF': 12, 'ORGQR': 16, 'GELS': 24, 'SYEV': 8, 'HEEV': 8, 'SYEVJ': 24,
          'GESVD': 117, 'GESVDJ': 115, 'STERF': 2}
HIPSOLVER = {'GETRF': 6, 'GETRS': 5, 'POTRF': 4, 'GEQRF': 6, 'ORGQR': 9, 'GELS': 9, 'SYEVD': 4, 'HEEVD': 4,
             'SYEVJ': 4, 'GESVD': 60, 'GESVDJ': 21}
RAND, HIPRAND, FFT = 'librocrand1-tests', 'libhiprand1-tests', 'librocfft0-tests'
BASIC = ('*create_destroy*', '*set_stream*', 'rocrand_basic_tests.*')
FORWARD = ('pow2_1D/accuracy_test.vs_fftw/complex_forward_len_4_single_ip_*',)


def lapack(numbers):
    return tuple(f'checkin_lapack/{name}.*/{number}' for name, number in numbers.items())


# Their packages have code for gfx1100, which runs as well: waves of 32 lanes.
ON_GFX1100 = ('test_rocrand_basic', 'test_rocrand_generator_type', 'test_uniform_distribution', 'test_warp_scan',
              'test_block_reduce', 'test_device_reduce', 'test_device_scan', 'test_device_select', 'rocthrust_tests',
              'rocsparse_tests', 'test_texture_cache_iterator', 'test_hipcub_warp_scan', 'test_hipcub_iterators',
              'test_hipcub_device_reduce', 'test_hipcub_device_scan', 'llama_text', 'ggml_operations')
ON_GFX90A = (
    Tests(RAND, 'test_rocrand_basic', BASIC),
    Tests(RAND, 'test_rocrand_generator_type'),
    Tests(RAND, 'test_uniform_distribution'),
    Tests(RAND, 'test_rocrand_linkage'),
    Tests(HIPRAND, 'test_hiprand_linkage'),
    Tests(HIPRAND, 'test_hiprand_cpp_wrapper', ('hiprand_cpp_wrapper.*',)),
    Tests(FFT, 'rocfft-test', FORWARD),
    # AMD's runtime takes half a minute for the 14,080 kernels of one code object.
    Tests('librocblas0', 'rocblas_calls', timeout_s=300, ours=True),
    Tests('libhipblas0', 'hipblas_calls', timeout_s=300, ours=True),
    Tests('librocblas0-tests', 'rocblas_tests', timeout_s=900, ours=True, together=True),
    Tests('libhipblas0-tests', 'hipblas_tests', timeout_s=900, ours=True, together=True),
    Tests('libhipfft0-tests', 'hipfft-test', ('hipfftTest.RunR2C', 'hipfftTest.Create*',
                                              'pow2_1D/accuracy_test.vs_fftw/complex_forward_len_4_single_ip_*'), 120),
    Tests('librccl1-tests', 'rccl_collectives', timeout_s=900, ours=True, agents=2),
    Tests('librccl1-tests', 'rccl_processes', timeout_s=900, ours=True, agents=2, walls=False),
    Tests('librccl1', 'rccl_ranks', timeout_s=400, ours=True, agents=2, walls=False),
    Tests('librocsparse0-tests', 'rocsparse_tests', timeout_s=900, ours=True, together=True),
    Tests('libhipsparse0-tests', 'hipsparse_tests', timeout_s=900, ours=True, together=True),
    Tests('librocsolver0-tests', 'rocsolver-test', lapack(SOLVER), 900, together=True),
    Tests('libhipsolver0-tests', 'hipsolver-test', lapack(HIPSOLVER), 900, together=True),
    Tests('librocprim-tests', 'test_warp_scan', timeout_s=300, together=True),
    Tests('librocprim-tests', 'test_block_reduce', timeout_s=300, together=True),
    Tests('librocprim-tests', 'test_device_reduce', ('*DeviceReduceTests/0.*',), 300, together=True),
    Tests('librocprim-tests', 'test_device_scan', ('*DeviceScanTests/0.*',), 300, together=True),
    Tests('librocprim-tests', 'test_device_select', ('*DeviceSelectTests/0.*',), 300, together=True),
    Tests('librocprim-tests', 'test_block_radix_sort', ('*/?.*',), 300, together=True),
    Tests('librocprim-tests', 'test_device_radix_sort', ('Id52/*.SortKeys', 'Id53/*.SortPairs'), 300, together=True),
    Tests('librocprim-tests', 'test_texture_cache_iterator', timeout_s=300, together=True),
    Tests('libhipcub-tests', 'test_hipcub_warp_scan', timeout_s=300, together=True),
    Tests('libhipcub-tests', 'test_hipcub_iterators', timeout_s=300, together=True),
    Tests('libhipcub-tests', 'test_hipcub_device_reduce', ('HipcubDeviceReduceTests/0.*',), 300, together=True),
    Tests('libhipcub-tests', 'test_hipcub_device_scan', ('HipcubDeviceScanTests/0.*',), 300, together=True),
    Tests('libhipcub-tests', 'test_hipcub_block_radix_sort', ('*/0.*',), 300, together=True),
    Tests('libhipcub-tests', 'test_hipcub_device_radix_sort', ('Id52/*.SortKeys',), 300, together=True),
    Tests('librocthrust-tests', 'rocthrust_tests', timeout_s=300, ours=True),
    # AMD's runtime 7.2.4; more below.
    Tests(RAND, 'test_rocrand_basic', BASIC, 300, suite='experimental', together=True),
    Tests(RAND, 'test_rocrand_generator_type', suite='experimental'),
    Tests(RAND, 'test_uniform_distribution', suite='experimental'),
    Tests(HIPRAND, 'test_hiprand_cpp_wrapper', ('hiprand_cpp_wrapper.*',), suite='experimental', together=True),
    Tests(FFT, 'rocfft-test', tuple(case + 'CI_*' for case in FORWARD), 300, suite='experimental', together=True),
    # AMD's runtime 6.4.3; more below.
    Tests(RAND, 'test_rocrand_basic', BASIC, suite='sid', together=True),
    Tests(RAND, 'test_rocrand_generator_type', suite='sid', together=True),
    Tests(RAND, 'test_uniform_distribution', suite='sid', together=True),
    Tests(HIPRAND, 'test_hiprand_cpp_wrapper', ('hiprand_cpp_wrapper.*',), suite='sid', together=True),
    # Its other cases differ from run to run.
    Tests(FFT, 'rocfft-test', tuple(case + 'CI_*' for case in FORWARD), 120, suite='sid', together=True),
    # MIOpen calls compilers for its kernels.
    Tests('libmiopen1-tests clang-21 clang-tools-21 lld-21 rocm-device-libs-21 libamdhip64-dev libc6-dev',
          'miopen_driver', timeout_s=300, ours=True, suite='sid'),
    Tests('libggml0-backend-hip llama.cpp', 'llama_text', timeout_s=120, ours=True, suite='sid'),
    Tests('libggml0-backend-hip llama.cpp-tests', 'ggml_operations', timeout_s=300, ours=True, suite='sid'),
)
# What else is run of newer Debians, and by which names their packages go.
NEWER = {
    'experimental': {
        'librocblas0-tests': 'librocblas5-tests librocblas5-tests-data', 'libhipblas0-tests': 'libhipblas3-tests',
        'librocsparse0-tests': 'librocsparse1-tests librocsparse1-tests-data',
        'libhipsparse0-tests': 'libhipsparse4-tests', 'librocsolver0-tests': 'librocsolver0-tests',
        'libhipsolver0-tests': 'libhipsolver1-tests', 'libhipfft0-tests': 'libhipfft0-tests',
        'librccl1-tests': 'librccl1-tests', 'librccl1': 'librccl1', 'librocprim-tests': 'librocprim-tests',
        'libhipcub-tests': 'libhipcub-tests', 'librocthrust-tests': 'librocthrust-tests'},
    'sid': {
        'librocblas0-tests': 'librocblas4-tests librocblas4-tests-data',
        'librocsparse0-tests': 'librocsparse1-tests librocsparse1-tests-data',
        'libhipsparse0-tests': 'libhipsparse1-tests', 'librocsolver0-tests': 'librocsolver0-tests',
        'libhipsolver0-tests': 'libhipsolver0-tests', 'libhipfft0-tests': 'libhipfft0-tests',
        'librocprim-tests': 'librocprim-tests', 'libhipcub-tests': 'libhipcub-tests',
        'librocthrust-tests': 'librocthrust-tests'}}
# What their small cases are called there; nothing: the package does not have the program.
RENAMED = {('sid', 'test_device_scan'): (),
           ('sid', 'test_device_radix_sort'): ('Id55/*.SortKeys', 'Id56/*.SortPairs'),
           ('experimental', 'test_device_radix_sort'): ('Id69/*.SortKeys', 'Id70/*.SortPairs'),
           ('sid', 'test_hipcub_device_radix_sort'): ('Id54/*.SortKeys',),
           ('experimental', 'test_hipcub_device_radix_sort'): ('Id54/*.SortKeys',)}
ON_GFX90A += tuple(dataclasses.replace(one, package=packages[one.package], suite=suite,
                                       cases=RENAMED.get((suite, one.program), one.cases))
                   for suite, packages in NEWER.items() for one in ON_GFX90A
                   if one.suite == 'trixie' and one.package in packages and RENAMED.get((suite, one.program), True))
ALL = ON_GFX90A + tuple(dataclasses.replace(one, isa='gfx1100') for one in ON_GFX90A
                        if one.program in ON_GFX1100 and (one.suite == 'trixie' or one.ours))


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, epilog=HELP,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('programs', nargs='*', metavar='PROGRAM', help='only these (default: all)')
    parser.add_argument('--suite', choices=SUITES, help='only those of this Debian')
    parser.add_argument('--build', type=pathlib.Path, default=ROOT / 'build' / 'test', metavar='DIR',
                        help='the build of hip-remote (default: build/test)')
    parser.add_argument('--cache', metavar='DIR', help='where tools/debian-chroot keeps its systems')
    parser.add_argument('--jobs', default='1', help='cases at a time (default 1)')
    parser.add_argument('--json', action='store_true', help="the cases, as tools/fidelity --json prints them")
    parser.add_argument('--list', action='store_true', help='print what would run')
    options = parser.parse_args()
    unknown = set(options.programs) - {one.program for one in ALL}
    if unknown:
        parser.error(f"{', '.join(sorted(unknown))}: --list says which there are")
    options.build = options.build.resolve()
    return options


def chroot(options, tests, command):
    """Runs it in the suite's system; standard output, whatever its exit status."""
    cache = ['--cache', options.cache] if options.cache else []
    words = [ROOT / 'tools/debian-chroot', *cache, '--suite', tests.suite, '--bind', options.build, '--packages',
             ' '.join((*ALWAYS, *NEWER_DISASSEMBLER.get((tests.suite, tests.isa), ()), tests.package)), '--', *command]
    done = subprocess.run([str(word) for word in words], stdout=subprocess.PIPE, text=True, check=False)
    return done.stdout, done.returncode


def carry(build):
    """Puts what Debian 13 lacks beside the build, where tools/fidelity looks."""
    (build / 'sys').mkdir(exist_ok=True)
    needed = subprocess.run(['ldd', build / 'bin/hip-remote'], stdout=subprocess.PIPE, text=True, check=True).stdout
    for line in needed.splitlines():
        name, _, rest = line.strip().partition(' => ')
        if name in CARRIED:
            # Never written in place: programs may run with the one that is there.
            made = build / 'sys' / f'{name}.{os.getpid()}'
            shutil.copy(rest.split()[0], made)
            made.rename(build / 'sys' / name)


def run(options, tests):
    """The rows of tools/fidelity for the cases of one program."""
    # The worker's surroundings too, which has the devices.
    surroundings = [f"LD_LIBRARY_PATH={options.build / 'lib/amd-standin'}", f'HSA_STANDIN_AGENTS={tests.agents}',
                    f'HSA_STANDIN_ISA={tests.isa}', 'HSA_STANDIN_MEMORY_MIB=8192',  # rocSPARSE's cases ask for 4 GiB
                    'GTEST_LISTENER=PASS_LINE_IN_LOG']  # of rocBLAS and its kin, which say no more what has passed
    command = ['env', *surroundings, ROOT / 'tools/fidelity',
               tests.folder(), *tests.filters(), '--runtime', 'amd', '--build', options.build, '--json',
               '--timeout', tests.timeout_s, '--jobs', options.jobs, '--ways', ','.join(WAYS),
               *(['--together'] if tests.together else []), *([] if tests.walls else ['--no-sandbox'])]
    output, status = chroot(options, tests, command)
    rows = [json.loads(line) for line in output.splitlines() if line.startswith('{')]
    rows = [row for row in rows if 'case' in row]
    if status > 1 or not rows:
        sys.exit(f'{tests.program}: tools/fidelity ran nothing (exit {status})')
    return rows


def line(version, tests, rows):
    """Of the table: how many cases pass each way, what differs, and the seconds of each way."""
    def count(way, *verdicts):
        return sum(1 for row in rows if row[way]['verdict'] in verdicts)
    seconds = ' / '.join(f"{sum(row[way]['seconds'] for row in rows):.0f}" for way in WAYS)
    late = sum(1 for row in rows if all(row[way]['verdict'] == 'time-out' for way in WAYS))
    passed = [str(count(way, 'pass', 'skip')) for way in WAYS]
    differ = sum(1 for row in rows if row['differ'])
    cases = f'{len(rows)}' + (f', {late} too slow every way' if late else '')
    isa = '' if tests.isa == 'gfx90a' else f' ({tests.isa})'
    return f"| `{tests.program}`{isa} | {version} | {cases} | {' | '.join(passed)} | {differ or 'none'} | {seconds} |"


def main():
    options = arguments()
    chosen = [one for one in ALL if (not options.programs or one.program in options.programs) and
              (not options.suite or one.suite == options.suite)]
    if options.list:
        for one in chosen:
            print(one.suite, one.package, one.program, one.isa, *one.cases)
        return 0
    carry(options.build)
    differ = 0
    if not options.json:
        print('| program | package | cases | natively | shm | tcp | differences | seconds: natively / shm / tcp |')
        print('|---|---|---|---|---|---|---|---|', flush=True)
    for tests in chosen:
        rows = run(options, tests)
        package = tests.package.split()[0]
        version, _ = chroot(options, tests, ['dpkg-query', '-W', '-f', '${Package} ${Version}', package])
        differ += sum(1 for row in rows if row['differ'])
        print('\n'.join(map(json.dumps, rows)) if options.json else line(version, tests, rows), flush=True)
    return 1 if differ else 0


if __name__ == '__main__':
    sys.exit(main())
