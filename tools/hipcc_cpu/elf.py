# SPDX-License-Identifier: Apache-2.0
"""What hipcc-cpu reads in ELF64 objects and in archives of them. All of it was written by this host's tools."""
import struct

ARCHIVE = b'!<arch>\n'
SYMBOL = struct.Struct('<IBBHQQ')
UNDEFINED = 0
SYMBOL_TABLE = 2  # SHT_SYMTAB


def sections(image):
    """[(name, type, link, contents)] of an object."""
    table, = struct.unpack_from('<Q', image, 40)
    entry, count, names = struct.unpack_from('<HHH', image, 58)
    headers = [struct.unpack_from('<IIQQQQIIQQ', image, table + i * entry) for i in range(count)]
    strings = headers[names][4] if headers else 0
    found = []
    for header in headers:
        start = strings + header[0]
        name = image[start:image.index(b'\0', start)].decode()
        found.append((name, header[1], header[6], image[header[4]:header[4] + header[5]]))
    return found


def read_section(image, wanted):
    for name, _, _, contents in sections(image):
        if name == wanted:
            return contents
    raise ValueError('no section ' + wanted)


def undefined_symbols(image):
    """Names that an object wants from others."""
    found, listed = set(), sections(image)
    for _, kind, link, contents in listed:
        if kind != SYMBOL_TABLE:
            continue
        strings = listed[link][3]
        for name, _, _, section, _, _ in SYMBOL.iter_unpack(contents):
            if section == UNDEFINED and name:
                found.add(strings[name:strings.index(b'\0', name)].decode())
    return found


def is_object(image):
    return image[:6] == b'\x7fELF\x02\x01'


def members(image):
    """The contents of an archive's members; of anything else itself."""
    if not image.startswith(ARCHIVE):
        return [image]
    found, at = [], len(ARCHIVE)
    while at + 60 <= len(image):
        size = int(image[at + 48:at + 58])
        found.append(image[at + 60:at + 60 + size])
        at += 60 + size + size % 2
    return found
