# SPDX-License-Identifier: Apache-2.0
"""What the machine boots: Debian's kernel and the few modules it needs, kept in a cache; the initramfs around them.

An image is a folder `<kernel package>/` with `vmlinux`, `modules/NAME.ko` and, for each stage of booting, a file
`modules/STAGE.order` with the names in the order in which they are to be loaded.
"""
import contextlib
import io
import lzma
import os
import pathlib
import shutil
import struct
import subprocess
import tarfile
import tempfile

from . import locks, packages
from .errors import Impossible

GUEST = pathlib.Path(__file__).resolve().parent / 'guest'
# Stage -> modules that are asked for; what they depend on comes by itself. rdma_rxe looks its checksum up by name
# while it adds a device, so crc32_generic is no dependency that the module tells of.
STAGES = {'root': ('virtio_pci', '9pnet_virtio', '9p', 'overlay'),
          'rdma': ('crc32_generic', 'rdma_rxe', 'rdma_ucm', 'ib_umad', 'veth', 'sch_netem', 'virtio_net')}
MODULE_PLACES = ('drivers/infiniband/core/', 'drivers/infiniband/sw/rxe/', 'drivers/virtio/', 'drivers/net/veth.ko',
                 'drivers/net/virtio_net.ko', 'drivers/net/net_failover.ko', 'fs/9p/', 'fs/netfs/', 'fs/fscache/',
                 'fs/overlayfs/', 'fs/configfs/', 'net/', 'crypto/', 'lib/')
MAKING = 'making.'
RECIPE = 1  # one more makes every cached image anew
NEEDED_BYTES = 600 << 20


def default_cache():
    base = os.environ.get('XDG_CACHE_HOME') or os.path.join(os.path.expanduser('~'), '.cache')
    return pathlib.Path(base) / 'hip-remote' / 'rdma-vm'


def module_name(path):
    return pathlib.PurePath(path).name.split('.ko')[0].replace('-', '_')


def depends_of(module):
    """The names of the modules that this one needs, out of its .modinfo section."""
    at = module.find(b'\0depends=')
    if at < 0:
        return []
    text = module[at + len(b'\0depends='):module.index(b'\0', at + 1)].decode('ascii')
    return [name.replace('-', '_') for name in text.split(',') if name]


def load_order(wanted, modules, builtin):
    """Names in the order in which they can be loaded; what is built into the kernel is left out."""
    order = []

    def visit(name, above):
        if name in order or (name in builtin and name not in modules):
            return
        if name not in modules or name in above:
            raise Impossible(f'the kernel package has no usable module {name} (wanted by {above[-1:] or "us"})')
        for needed in depends_of(modules[name]):
            visit(needed, above + [name])
        order.append(name)

    for name in wanted:
        visit(name, [])
    return order


def plain_kernel(image):
    """The ELF kernel inside a bzImage, which saves the emulator the unpacking; None if it is packed another way."""
    if len(image) < 0x250 or image[0x202:0x206] != b'HdrS':
        return None
    setup_sectors = image[0x1f1] or 4
    offset, length = struct.unpack_from('<II', image, 0x248)
    start = (setup_sectors + 1) * 512 + offset
    try:
        unpacked = lzma.LZMADecompressor().decompress(image[start:start + length])
    except lzma.LZMAError:
        return None
    return unpacked if unpacked[:4] == b'\x7fELF' else None


def read_package(deb):
    """(bzImage, {name: module}, names built in) of a kernel package."""
    kernel, modules, builtin = None, {}, set()
    command = ['dpkg-deb', '--fsys-tarfile', str(deb)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        with tarfile.open(fileobj=process.stdout, mode='r|') as archive:
            for member in archive:
                path = member.name.lstrip('./')
                inside = path.partition('/kernel/')[2]
                if path.startswith('boot/vmlinuz-'):
                    kernel = archive.extractfile(member).read()
                elif path.endswith('/modules.builtin'):
                    builtin = {module_name(line) for line in archive.extractfile(member).read().decode().split()}
                elif '.ko' in inside and inside.startswith(MODULE_PLACES):
                    content = archive.extractfile(member).read()
                    modules[module_name(path)] = lzma.decompress(content) if path.endswith('.xz') else content
    if kernel is None or not modules:
        raise Impossible(f'{deb.name} holds no kernel with modules')
    return kernel, modules, builtin


def make(name, deb, folder):
    kernel, modules, builtin = read_package(deb)
    (folder / 'modules').mkdir()
    (folder / 'vmlinux').write_bytes(plain_kernel(kernel) or kernel)
    loaded = []
    for stage, wanted in STAGES.items():
        order = [module for module in load_order(wanted, modules, builtin) if module not in loaded]
        loaded += order
        (folder / 'modules' / (stage + '.order')).write_text('\n'.join(order) + '\n')
        for module in order:
            (folder / 'modules' / (module + '.ko')).write_bytes(modules[module])
    (folder / 'recipe').write_text(f'{RECIPE} {name}\n')


def usable(folder):
    try:
        return (folder / 'recipe').read_text().split()[0] == str(RECIPE)
    except (OSError, IndexError):
        return False


@contextlib.contextmanager
def told(what):
    """What the file system or a broken file has to say, with the path, as the reason why there is no machine."""
    try:
        yield
    except OSError as error:
        where = f'{error.filename}: ' if error.filename else ''
        raise Impossible(f'{what}: {where}{error.strerror or error}') from error
    except (tarfile.TarError, lzma.LZMAError, EOFError) as error:
        raise Impossible(f'{what}: {error}') from error


def clear(cache, keep):
    """Removes what runs that were killed began, and images that nobody boots. The cache is locked."""
    for path in cache.iterdir():
        is_image = (path / 'recipe').exists()
        if path == keep or path.is_symlink() or not (is_image or path.name.startswith(MAKING)):
            continue
        with contextlib.suppress(Impossible), locks.Lock(path) as lock:  # somebody else's
            if lock.try_take(locks.EXCLUSIVE):
                shutil.rmtree(path, ignore_errors=True)


def build(cache, say):
    """Makes an image of the kernel that Debian has today, the current one from now on. The cache is locked."""
    free = shutil.disk_usage(cache).free
    if free < NEEDED_BYTES:
        raise Impossible(f'{cache} has {free >> 20} MiB free, {NEEDED_BYTES >> 20} are needed '
                         '(--cache names another place)')
    with tempfile.TemporaryDirectory(dir=cache, prefix=MAKING) as name:
        work = pathlib.Path(name)
        package, deb = packages.fetch_kernel(work, say)
        say('unpacking the kernel')
        made = work / 'image'
        made.mkdir()
        with told(deb):
            make(package, deb, made)
        # A name of its own: another run may be about to boot the last one.
        final = cache / (package + work.name.replace(MAKING, '.'))
        made.rename(final)
    link = cache / 'current.new'
    link.unlink(missing_ok=True)
    link.symlink_to(final.name)
    link.rename(cache / 'current')
    clear(cache, final)


def make_current(cache, say, anew):
    """Sees to an image that can be used. `anew`: one that was made now."""
    current = cache / 'current'
    if not anew and usable(current):
        return
    with told('the cache (--cache names another place)'):
        cache.mkdir(parents=True, exist_ok=True)
        with locks.Lock(cache) as lock:
            lock.take(locks.EXCLUSIVE, say, f'it makes an image in {cache}')
            if anew or not usable(current):
                build(cache, say)


@contextlib.contextmanager
def held(cache, say, anew=False):
    """The folder of the image: the cached one, or one made of the kernel that Debian has today. It stays until the
    end of the block, whatever other runs do."""
    while True:
        make_current(cache, say, anew)
        anew = False
        folder = (cache / 'current').resolve()
        with contextlib.ExitStack() as stack:
            try:
                lock = stack.enter_context(locks.Lock(folder))
            except Impossible:
                continue  # removed since it was current
            lock.take(locks.SHARED, say, f'it looks whether {folder} is in use')
            if not usable(folder):
                continue
            yield folder
            return


def archive_entry(name, mode, content=b''):
    """One member of a "newc" cpio archive, which is what the kernel unpacks as its first root."""
    encoded = name.encode() + b'\0'
    numbers = (0, mode, 0, 0, 1, 0, len(content), 0, 0, 0, 0, len(encoded), 0)
    head = b'070701' + b''.join(b'%08X' % number for number in numbers) + encoded
    return head + b'\0' * (-len(head) % 4) + content + b'\0' * (-len(content) % 4)


def initramfs(image, path):
    """Writes the first root: busybox, the modules and guest/init."""
    busybox = shutil.which('busybox')
    if busybox is None:
        raise Impossible('there is no busybox: install busybox-static')
    with told('the first root'):
        write_initramfs(busybox, image, path)


def write_initramfs(busybox, image, path):
    out = io.BytesIO()
    for folder in ('bin', 'dev', 'proc', 'sys', 'host', 'rw', 'new', 'modules'):
        out.write(archive_entry(folder, 0o040755))
    out.write(archive_entry('bin/busybox', 0o100755, pathlib.Path(busybox).read_bytes()))
    out.write(archive_entry('init', 0o100755, (GUEST / 'init').read_bytes()))
    for file in sorted((image / 'modules').iterdir()):
        out.write(archive_entry('modules/' + file.name, 0o100644, file.read_bytes()))
    out.write(archive_entry('TRAILER!!!', 0))
    path.write_bytes(out.getvalue())
