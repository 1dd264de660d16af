# SPDX-License-Identifier: Apache-2.0
"""hipcc-cpu as a compiler driver: every option reaches whom it is for. Usage: driver_test.py HIPCC_CPU NATIVE_DIR"""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

from driver_sources import HALVES, HEAD, MAIN, MATHEMATICS

HIPCC, NATIVE = os.path.abspath(sys.argv.pop(1)), os.path.abspath(sys.argv.pop(1))
LIMIT_SECONDS = 120


class Case(unittest.TestCase):
    """A folder of its own for every test, and the commands in it."""

    def setUp(self):
        self.place = tempfile.TemporaryDirectory(prefix='hipcc test ')  # a space, as users' folders have
        self.folder = self.place.name

    def tearDown(self):
        self.place.cleanup()

    def write(self, name, text):
        path = os.path.join(self.folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, 'w', encoding='utf-8') as file:
            file.write(text)
        return path

    def read(self, name):
        with open(os.path.join(self.folder, name), encoding='utf-8') as file:
            return file.read()

    def exists(self, name):
        return os.path.exists(os.path.join(self.folder, name))

    def command(self, *words, text=None, environment=None):
        return subprocess.run(words, cwd=self.folder, capture_output=True, text=True, timeout=LIMIT_SECONDS,
                              input=text, check=False, env=dict(os.environ, **(environment or {})))

    def hipcc(self, *words, text=None, status=0, environment=None):
        """The command, which must end with `status` and show no line of Python's."""
        done = self.command(HIPCC, *words, text=text, environment=environment)
        self.assertNotIn('Traceback', done.stderr)
        self.assertNotIn('internal error', done.stderr)
        self.assertEqual(done.returncode, status, '%s: %s' % (words, done.stderr))
        return done

    def refused(self, said, *words):
        """One line that says `said`, and a status that is clang's or 1."""
        done = self.hipcc(*words, status=1)
        self.assertIn(said, done.stderr)
        self.assertEqual(len(done.stderr.strip().split('\n')), 1, done.stderr)

    def run_program(self, name='./prog'):
        done = self.command(name, environment={'LD_LIBRARY_PATH': NATIVE + ':' + self.folder})
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout


class Output(Case):
    def test_joined_output(self):
        self.write('main.hip', MAIN)
        self.hipcc('main.hip', '-oprog', '-mprintf-kind=buffered')  # there is one kind
        self.assertEqual(self.run_program(), '7 10\n')

    def test_several_objects(self):
        self.write('a.hip', MAIN)
        self.write('b.cpp', 'int b() { return 1; }\n')
        self.write('c.c', 'int c(int new) { return new; }\n')
        self.hipcc('-c', 'a.hip', 'b.cpp', 'c.c')
        self.assertTrue(self.exists('a.o') and self.exists('b.o') and self.exists('c.o'))
        self.hipcc('a.o', 'b.o', 'c.o', '-o', 'prog')
        self.assertEqual(self.run_program(), '7 10\n')
        self.refused('cannot specify -o', '-c', 'a.hip', 'b.cpp', '-o', 'x.o')

    def test_default_names(self):
        self.write('main.hip', MAIN)
        self.hipcc('main.hip')
        self.assertEqual(self.run_program('./a.out'), '7 10\n')

    def test_c_and_cpp_sources_in_one_command(self):
        self.write('main.hip', HEAD + 'extern "C" int twice(int klass);\nint plus(int);\n'
                   'int main() { std::printf("%d\\n", plus(twice(4))); }\n')
        self.write('twice.c', 'int twice(int class) { return 2 * class; }\n')
        self.write('plus.cc', 'int plus(int i) { return i + 1; }\n')
        self.hipcc('main.hip', 'twice.c', 'plus.cc', '-o', 'prog')
        self.assertEqual(self.run_program(), '9\n')

    def test_language_is_said(self):
        self.write('main.txt', MAIN)
        self.hipcc('-x', 'hip', 'main.txt', '-o', 'prog')
        self.assertEqual(self.run_program(), '7 10\n')
        self.write('plain.cpp', '#ifdef __HIP__\n#error HIP\n#endif\nint main() {}\n')
        self.hipcc('-x', 'c++', 'plain.cpp', '-o', 'prog')
        self.hipcc('plain.cpp', '-o', 'prog', environment={'HIP_COMPILE_CXX_AS_HIP': '0'})
        self.assertIn('HIP', self.hipcc('plain.cpp', status=1).stderr)

    def test_standard_input(self):
        self.hipcc('-x', 'hip', '-', '-o', 'prog', text=MAIN)
        self.assertEqual(self.run_program(), '7 10\n')
        made = self.hipcc('-x', 'c++', '-E', '-', text='int value = __COUNTER__ + 41;\n').stdout
        self.assertIn('int value = 0 + 41;', made)

    def test_response_files(self):
        self.write('main.hip', MAIN)
        self.write('more.rsp', '-DVALUE=20 "-o" prog')
        self.write('words.rsp', 'main.hip\n@more.rsp\n--offload-arch=x86_64-cpu\n')
        self.hipcc('@words.rsp')
        self.assertEqual(self.run_program(), '20 23\n')
        self.refused('no such file', '@missing.rsp')
        self.write('open.rsp', '-D"X main.hip')
        self.refused('open.rsp', '@open.rsp')
        self.write('round.rsp', '@round.rsp')
        self.refused('nested', '@round.rsp')


class Passes(Case):
    def test_preprocessed(self):
        self.write('main.hip', MAIN)
        made = self.hipcc('-E', '-DVALUE=33', 'main.hip').stdout
        self.assertIn('out[threadIdx.x] = 33 + threadIdx.x', made)

    def test_assembly(self):
        self.write('main.hip', MAIN)
        self.hipcc('-S', 'main.hip')
        self.assertIn('main:', self.read('main.s'))
        self.assertIn('main:', self.hipcc('-S', 'main.hip', '-o', '-').stdout)

    def test_syntax_only(self):
        self.write('main.hip', MAIN)
        self.hipcc('-fsyntax-only', 'main.hip')
        self.assertEqual(os.listdir(self.folder), ['main.hip'])
        self.write('wrong.hip', HEAD + 'int main() { return nothing; }\n')
        self.assertIn('nothing', self.hipcc('-fsyntax-only', 'wrong.hip', status=1).stderr)

    def test_our_headers(self):
        self.write('main.hip', '__host__ int zero();\n#include <hip/hip_bf16.h>\n__hip_bfloat16 value;\n')
        self.hipcc('-fsyntax-only', 'main.hip')
        self.assertIn('hip_bf16.h', self.hipcc('-M', 'main.hip').stdout)
        self.assertIn('struct', self.hipcc('-E', 'main.hip').stdout)

    def test_mathematics_before_any_header_of_hip(self):
        self.write('main.hip', MATHEMATICS)
        self.hipcc('main.hip', '-o', 'prog')
        self.assertEqual(self.run_program(), '1 1\n')
        self.hipcc('-fsyntax-only', 'main.hip')
        refused = self.hipcc('-fsyntax-only', '-nogpuinc', 'main.hip', status=1)
        self.assertIn("'sinf'", refused.stderr)

    def test_operators_of_halves_on_the_host(self):
        self.write('main.hip', HEAD + HALVES)
        self.hipcc('main.hip', '-o', 'prog')
        done = self.command('./prog', environment={'LD_LIBRARY_PATH': NATIVE})
        expected = ('3.5 -0.5 3 0.75 -3.5 2.5 1.5 1 1.00195 111111 '  # halves
                    '3.5 4 -1.5 2.5 101')                             # pairs
        self.assertEqual(done.stdout.split(), expected.split(), done.stderr)

    def test_device_only(self):
        self.write('main.hip', MAIN)
        self.hipcc('--cuda-device-only', '-c', 'main.hip', '-o', 'main.co')
        with open(os.path.join(self.folder, 'main.co'), 'rb') as file:
            self.assertTrue(file.read().startswith(b'\x7fELF'))
        self.refused('x86_64-cpu', '--cuda-device-only', '-S', 'main.hip')

    def test_questions(self):
        self.assertIn('clang version', self.hipcc('--version').stdout)
        self.assertRegex(self.hipcc('--version').stdout, r'^HIP version: \d+\.\d+.*\nhipcc-cpu \d+\.\d+\.\d+\n')
        self.assertEqual(self.hipcc('-dumpmachine').stdout, 'x86_64-pc-linux-gnu\n')
        self.assertRegex(self.hipcc('-dumpversion').stdout, r'^\d+')
        self.assertIn('include', self.hipcc('-print-file-name=include').stdout)
        self.assertIn('Target:', self.hipcc('-v').stderr)

    def test_verbose_shows_the_link(self):
        self.write('main.hip', MAIN)
        said = self.hipcc('-v', 'main.hip', '-o', 'prog').stderr
        self.assertRegex(said, r'(?m)^ "\S*ld" .*"-lamdhip64"')
        self.assertIn('#include <...> search starts here', said)


class Linking(Case):
    LIBRARY = 'int from_library() { return 5; }\n'
    USER = HEAD + 'int from_library();\nint main() { std::printf("%d\\n", from_library()); }\n'

    def library(self):
        self.write('libs/one.cc', self.LIBRARY)
        self.hipcc('-shared', '-fPIC', 'libs/one.cc', '-o', 'libs/libone.so')
        self.write('main.hip', self.USER)

    def check_library(self, *words):
        self.library()
        self.hipcc('main.hip', '-o', 'prog', *words)
        done = self.command('./prog', environment={'LD_LIBRARY_PATH': NATIVE + ':' + self.folder + '/libs'})
        self.assertEqual(done.stdout, '5\n', done.stderr)

    def test_library_options(self):
        self.check_library('-L', 'libs', '-l', 'one')
        self.check_library('-Llibs', '-lone')
        self.check_library('-Xlinker', '-Llibs', '-Xlinker', '-lone')
        self.check_library('-Wl,-Llibs,-lone')
        self.check_library('libs/libone.so')

    def test_linker_words_with_spaces(self):
        self.library()
        self.hipcc('main.hip', '-L', 'libs', '-l', 'one', '-Xlinker', '-rpath', '-Xlinker', self.folder + '/libs',
                   '-o', 'prog')
        self.assertEqual(self.run_program(), '5\n')

    def test_openmp(self):
        self.write('main.hip', HEAD + '#if !defined(_OPENMP) && !defined(__HIP_DEVICE_COMPILE__)\n'
                   '#error no OpenMP\n#endif\nint main() {}\n')
        self.hipcc('-fopenmp', '-c', 'main.hip', '-o', 'main.o')
        said = self.command(HIPCC, '-v', '-fopenmp', 'main.o', '-o', 'prog').stderr
        self.assertRegex(said, r'(?m)^ "\S*ld" .*"-lomp"')

    def test_sanitizer(self):
        self.write('main.hip', HEAD + 'int main(int n, char**) { int* p = new int[4]; p[n + 3] = 1; return p[0]; }\n')
        made = self.command(HIPCC, '-fsanitize=address', '-g', 'main.hip', '-o', 'prog')
        if 'libclang_rt.asan' in made.stderr:
            self.skipTest("this clang has no address sanitizer's runtime (Debian 12: libclang-rt-14-dev)")
        self.assertIn('heap-buffer-overflow', self.command('./prog', environment={'LD_LIBRARY_PATH': NATIVE}).stderr)

    def test_static_library(self):
        self.write('kernel.hip', HEAD + '__global__ void add(int* p) { *p += 1; }\n'
                   'void launch(int* p) { add<<<1, 1>>>(p); }\n')
        self.write('main.hip', HEAD + 'void launch(int*);\nint main() { int *p, h = 1; hipMalloc(&p, 4);\n'
                   'hipMemcpy(p, &h, 4, hipMemcpyHostToDevice); launch(p);\n'
                   'hipMemcpy(&h, p, 4, hipMemcpyDeviceToHost); std::printf("%d\\n", h); }\n')
        self.hipcc('--emit-static-lib', 'kernel.hip', '-o', 'libkernel.a')
        self.hipcc('main.hip', '-L.', '-lkernel', '-o', 'prog')
        self.assertEqual(self.run_program(), '2\n')

    def test_partial_link(self):
        self.write('main.hip', MAIN)
        self.hipcc('-c', 'main.hip')
        self.hipcc('-r', '-nostdlib', 'main.o', '-o', 'all.o')
        self.hipcc('all.o', '-o', 'prog')
        self.assertEqual(self.run_program(), '7 10\n')


class Dependencies(Case):
    SOURCE = HEAD + '#include "host.h"\n#if __HIP_DEVICE_COMPILE__\n#include "device.h"\n#endif\nint main() {}\n'

    def setUp(self):
        super().setUp()
        self.write('main.hip', self.SOURCE)
        self.write('host.h', '')
        self.write('device.h', '')

    def test_file_and_target(self):
        self.hipcc('-MMD', '-MF', 'deps.d', '-MT', 'some target', '-MP', '-c', 'main.hip', '-o', 'main.o')
        text = self.read('deps.d')
        self.assertTrue(text.startswith('some target:'), text)
        for name in ('main.hip', 'host.h', 'device.h'):
            self.assertRegex(text, r'(?m)^some target:(.|\n)* %s( |$)' % re.escape(name))
        self.assertRegex(text, r'(?m)^host.h:$')
        self.assertNotIn('hip_runtime.h', text)
        self.assertNotIn('hipcc-cpu-', text)

    def test_defaults_and_quoting(self):
        self.hipcc('-MD', '-c', 'main.hip')
        text = self.read('main.d')
        self.assertTrue(text.startswith('main.o:'), text)
        self.assertIn('hip_runtime.h', text)
        self.hipcc('-MMD', '-MQ', 'a$b', '-c', 'main.hip', '-o', 'x.o')
        self.assertTrue(self.read('x.d').startswith('a$$b:'))
        self.assertRegex(self.hipcc('-MM', 'main.hip').stdout, r'^main.o: main.hip host.h')

    def test_code_object(self):
        self.hipcc('--genco', '-MMD', '-MF', 'co.d', 'main.hip', '-o', 'main.co')
        self.assertRegex(self.read('co.d'), r'main.co:.*main.hip(.|\n)*device.h')

    def rebuild(self, tool, *words):
        """Builds, and again after each header changed; nothing where nothing did."""
        def build():
            done = self.command(tool, *words)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            return os.stat(os.path.join(self.folder, 'main.o')).st_mtime_ns
        first = build()
        self.assertEqual(build(), first)
        for name in ('host.h', 'device.h'):
            later = os.stat(os.path.join(self.folder, 'main.o')).st_mtime_ns + 10 ** 9
            os.utime(os.path.join(self.folder, name), ns=(later, later))
            before = os.stat(os.path.join(self.folder, 'main.o')).st_mtime_ns
            self.assertNotEqual(build(), before, name)
            os.utime(os.path.join(self.folder, name), ns=(first, first))

    def test_ninja_builds_again(self):
        if not shutil.which('ninja'):
            self.skipTest('ninja is not installed')
        self.write('build.ninja', 'rule hip\n  command = "%s" -MD -MF $out.d -MT $out -c $in -o $out\n'
                   '  depfile = $out.d\n  deps = gcc\nbuild main.o: hip main.hip\n' % HIPCC)
        self.rebuild('ninja')

    def test_make_builds_again(self):
        if not shutil.which('make'):
            self.skipTest('make is not installed')
        self.write('Makefile', 'main.o: main.hip\n\t"%s" -MMD -MP -c $< -o $@\n-include main.d\n' % HIPCC)
        self.rebuild('make')


class Relocatable(Case):
    """-fgpu-rdc: one file's kernels use another file's device function and variable."""
    MAIN = HEAD + '''
extern __device__ int factor;
__device__ int scaled(int value);
__global__ void work(int* out) { out[threadIdx.x] = scaled(threadIdx.x) + factor; }
int main() {
  int *device, host[3] = {}, ten = 10;
  if (hipMemcpyToSymbol(HIP_SYMBOL(factor), &ten, sizeof ten) != hipSuccess) return 2;
  if (hipMalloc(&device, sizeof host) != hipSuccess) return 3;
  work<<<1, 3>>>(device);
  if (hipMemcpy(host, device, sizeof host, hipMemcpyDeviceToHost) != hipSuccess) return 4;
  std::printf("%d %d\\n", host[0], host[2]);
}
'''
    PART = HEAD + '__device__ int factor = 3;\n__device__ int scaled(int value) { return value * factor; }\n'

    def setUp(self):
        super().setUp()
        self.write('main.hip', self.MAIN)
        self.write('part.hip', self.PART)

    def test_objects(self):
        self.hipcc('-fgpu-rdc', '-c', 'main.hip', 'part.hip')
        self.hipcc('-fgpu-rdc', '--hip-link', 'main.o', 'part.o', '-o', 'prog')
        self.assertEqual(self.run_program(), '10 30\n')

    def test_one_command(self):
        self.hipcc('-fgpu-rdc', 'main.hip', 'part.hip', '-o', 'prog')
        self.assertEqual(self.run_program(), '10 30\n')

    def test_static_library(self):
        self.hipcc('-fgpu-rdc', '--emit-static-lib', 'part.hip', '-o', 'libpart.a')
        self.hipcc('-fgpu-rdc', '-c', 'main.hip')
        self.hipcc('-fgpu-rdc', '--hip-link', 'main.o', '-L', '.', '-l', 'part', '-o', 'prog')
        self.assertEqual(self.run_program(), '10 30\n')
        self.hipcc('-fgpu-rdc', '--hip-link', 'main.o', 'libpart.a', '-o', 'prog')
        self.assertEqual(self.run_program(), '10 30\n')

    def test_partial_link(self):
        self.hipcc('-fgpu-rdc', '-c', 'main.hip', 'part.hip')
        self.command('ld', '-r', 'main.o', 'part.o', '-o', 'both.o')
        self.hipcc('both.o', '-o', 'prog')
        self.assertEqual(self.run_program(), '10 30\n')

    def test_hiprtc(self):
        self.write('user.hip', 'extern __device__ int factor;\n__device__ int scaled(int value);\n'
                   'extern "C" __global__ void work(int* out) { out[0] = scaled(1) + factor; }\n')
        self.write('giver.hip', '__device__ int factor = 3;\n__device__ int scaled(int v) { return v * factor; }\n')
        for name in ('user', 'giver'):
            self.hipcc('--rtc', '-fgpu-rdc', name + '.hip', '-o', name + '.bc')
            with open(os.path.join(self.folder, name + '.bc'), 'rb') as file:
                self.assertEqual(file.read(2), b'BC', 'LLVM bitcode')
        self.hipcc('--rtc-link', 'user.bc', 'giver.bc', '-o', 'both.co')
        with open(os.path.join(self.folder, 'both.co'), 'rb') as file:
            self.assertEqual(file.read(4), b'\x7fELF')
        self.assertIn('scaled', self.hipcc('--rtc-link', 'user.bc', '-o', 'half.co', status=1).stderr)
        self.assertIn('main.hip', self.hipcc('--rtc-link', 'main.hip', '-o', 'none.co', status=1).stderr)

    def test_missing_definition(self):
        self.hipcc('-fgpu-rdc', '-c', 'main.hip')
        self.assertIn('scaled', self.hipcc('-fgpu-rdc', '--hip-link', 'main.o', '-o', 'prog', status=1).stderr)

    def test_without_it_another_file_is_out_of_reach(self):
        self.assertIn('scaled', self.hipcc('-c', 'main.hip', status=1).stderr)


class Managed(Case):
    """__managed__ variables, also across files."""
    SHARED = HEAD + 'extern __managed__ int total;\ninline __managed__ int of_header = 2;\nvoid show();\n'
    MAIN = SHARED + '''
static __managed__ int own[2] = {1, 4};
__global__ void work() { total += own[threadIdx.x] * of_header; }
int main() {
  total += 10;
  work<<<1, 1>>>();
  if (hipDeviceSynchronize() != hipSuccess) return 2;
  of_header += 1;
  own[0] = 100;
  work<<<1, 1>>>();
  if (hipDeviceSynchronize() != hipSuccess) return 3;
  std::printf("%d ", total);
  show();
}
'''
    PART = SHARED + '''
__managed__ int total = 5;
static __managed__ int own = 7;
__global__ void add() { total += own + of_header; }
void show() {
  add<<<1, 1>>>();
  if (hipDeviceSynchronize() == hipSuccess) std::printf("%d\\n", total);
}
'''

    def test_across_files(self):
        self.write('main.hip', self.MAIN)
        self.write('part.hip', self.PART)
        self.hipcc('-std=c++17', '-fgpu-rdc', 'main.hip', 'part.hip', '-o', 'prog')
        self.assertEqual(self.run_program(), '317 327\n')

    def test_in_one_file_each(self):
        self.write('main.hip', HEAD + '''
__managed__ int value = 3;
__global__ void twice() { value *= 2; }
struct AtEnd { ~AtEnd() { std::printf(" %d\\n", value); } } at_end;
int main() { twice<<<1, 1>>>(); value += hipDeviceSynchronize(); std::printf("%d", value); }
''')
        self.hipcc('main.hip', '-o', 'prog')
        self.assertEqual(self.run_program(), '6 6\n')


class Refusals(Case):
    def test_amd_targets(self):
        self.write('main.hip', MAIN)
        for name in ('gfx942', 'gfx90a', 'gfx1100'):
            self.refused(name, '--offload-arch=' + name, 'main.hip', '-o', 'prog')
            self.refused(name, '--genco', '--offload-arch=' + name, 'main.hip', '-o', 'prog')
            self.assertFalse(self.exists('prog'))
        self.hipcc('--offload-arch=gfx942', 'main.hip', '-o', 'prog', environment={'HIPCC_CPU_TARGETS': 'x86_64-cpu'})
        self.assertEqual(self.run_program(), '7 10\n')
        self.refused('amdgcn-amd-amdhsa gfx90a', '-target', 'amdgcn-amd-amdhsa', '-mcpu=gfx90a', '-c', 'main.s')
        self.refused('amdgcn-amd-amdhsa', '--target=amdgcn-amd-amdhsa', '-c', 'main.s')

    def test_amd_back_end(self):
        self.write('main.hip', HEAD + '__global__ void moves(int* p) '
                   '{ int r; asm volatile("v_mov_b32 %0, 1" : "=v"(r)); *p = r; }\nint main() {}\n')
        self.refused('v_mov_b32', '-c', 'main.hip')
        done = self.hipcc('-c', 'main.hip', status=1)
        self.assertIn('moves', done.stderr)
        self.assertIn('x86_64-cpu', done.stderr)
        self.write('empty.hip', HEAD + '__global__ void k(int* p) { asm volatile("" ::: "memory"); *p = 1; }\n'
                   'int main() {}\n')
        self.hipcc('-c', 'empty.hip')
        for bounds in ('-1', '128, -1'):  # that AMD's back end refuses
            self.write('bounds.hip', HEAD + '__global__ void __launch_bounds__(%s) bounded() {}\n' % bounds)
            self.refused('bounded', '-c', 'bounds.hip')

    def test_bad_command_lines(self):
        self.refused('nothing.hip', 'nothing.hip', '-o', 'prog')
        self.refused('--names', '--genco', '--names')
        self.refused('-o wants a value', '-o')
        self.write('main.hip', MAIN)
        self.refused('--no-such-option', '--no-such-option', '-c', 'main.hip')
        done = self.command(HIPCC, 'main.hip', environment={'HIPCC_CPU_CLANG': 'no-such-clang'})
        self.assertEqual((done.returncode, done.stdout), (127, ''))
        self.assertEqual(done.stderr.count('\n'), 1)

    def test_missing_library(self):
        self.write('main.hip', MAIN)
        self.assertIn('-lnone', self.hipcc('main.hip', '-lnone', status=1).stderr)

    def test_clang_that_crashes(self):
        """clang 14 and 15 do so on C++20 that newer ones compile."""
        self.write('main.hip', '#pragma clang __debug crash\n')
        newest = next((n for n in range(40, 14, -1) if shutil.which('clang++-%d' % n)), None)
        done = self.hipcc('-c', 'main.hip', status=1, environment={'HIPCC_CPU_CLANG': 'clang++-14'})
        self.assertIn('was ended by signal', done.stderr)
        if newest:
            self.assertIn('another one may compile it: HIPCC_CPU_CLANG=clang++-%d\n' % newest, done.stderr)
            done = self.hipcc('-c', 'main.hip', status=1, environment={'HIPCC_CPU_CLANG': 'clang++-%d' % newest})
            self.assertIn('was ended by signal', done.stderr)
        self.assertTrue(newest is None or 'another one' not in done.stderr, done.stderr)

    def test_nowhere_to_write(self):
        self.write('main.hip', MAIN)
        self.hipcc('--genco', 'main.hip', '-o', 'missing/main.co', status=1)
        done = self.command(HIPCC, '-c', 'main.hip', environment={'TMPDIR': '/nonexistent'})
        self.assertNotIn('Traceback', done.stderr)


class Words(unittest.TestCase):
    def test_options_with_values_are_clang_s(self):
        """Every option that clang lists with a value of its own is known to have one."""
        sys.path[:0] = [os.path.join(os.path.dirname(HIPCC), '..', 'share', 'hip-remote')]
        from hipcc_cpu import commandline, jobs
        said = subprocess.run([jobs.find_clang(), '--help-hidden'], capture_output=True, text=True, check=True).stdout
        listed = set(re.findall(r'(?m)^  (--?[A-Za-z][-+\w]*) <', said))
        self.assertGreater(len(listed), 40)
        self.assertEqual({o for o in listed if not o.startswith('-Xarch_')} - commandline.SEPARATE, set())


if __name__ == '__main__':
    unittest.main()
