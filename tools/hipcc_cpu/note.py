# SPDX-License-Identifier: Apache-2.0
"""The kernel metadata note (NT_AMDGPU_METADATA) of a CPU code object: written as assembly, in the same
MessagePack form that AMD's compiler writes, so that one reader serves both."""
import struct

NOTE_TYPE = 32  # NT_AMDGPU_METADATA
WAVE_SIZE = 64
SHARED_ALIGNMENT = 16


def pack(value):
    if isinstance(value, bool):
        return b'\xc3' if value else b'\xc2'
    if isinstance(value, int):
        if value < 0:
            return b'\xd3' + struct.pack('>q', value)
        if value < 128:
            return bytes([value])
        return b'\xce' + struct.pack('>I', value) if value < 1 << 32 else b'\xcf' + struct.pack('>Q', value)
    if isinstance(value, str):
        data = value.encode()
        if len(data) < 32:
            return bytes([0xa0 | len(data)]) + data
        return b'\xda' + struct.pack('>H', len(data)) + data if len(data) < 65536 else (
            b'\xdb' + struct.pack('>I', len(data)) + data)
    if isinstance(value, list):
        return b'\xdd' + struct.pack('>I', len(value)) + b''.join(map(pack, value))
    return b'\xdf' + struct.pack('>I', len(value)) + b''.join(pack(k) + pack(v) for k, v in value.items())


def describe(kernels, words):
    """The metadata of a module; `words` are the constants ir.table() laid down, in the same order."""
    words, listed = iter(words), []
    constant = sum([next(words) for _ in range(next(words))])
    for kernel in kernels:
        shared = sum(-(-next(words) // SHARED_ALIGNMENT) * SHARED_ALIGNMENT for _ in kernel.shared)
        arguments, end = [], 0
        for kind, _, by_reference in kernel.parameters:
            pointer = (kind == 'ptr' or kind.endswith('*')) and not by_reference
            arguments.append({'.offset': next(words), '.size': next(words),
                              '.value_kind': 'global_buffer' if pointer else 'by_value'})
            end = arguments[-1]['.offset'] + arguments[-1]['.size']
            if pointer:
                arguments[-1]['.address_space'] = 'global'
        listed.append({'.name': kernel.name, '.symbol': kernel.name + '.kd', '.args': arguments,
                       '.kernarg_segment_size': end, '.kernarg_segment_align': 16,
                       '.group_segment_fixed_size': shared, '.private_segment_fixed_size': 0,
                       '.wavefront_size': WAVE_SIZE, '.max_flat_workgroup_size': kernel.max_threads,
                       '.sgpr_count': 0, '.vgpr_count': 0, '.hipr_parks': kernel.parks, '.hipr_spins': kernel.spins,
                       '.hipr_prints': kernel.prints, '.hipr_constant_size': constant})
    return {'amdhsa.version': [1, 2], 'amdhsa.target': 'x86_64-unknown-linux-gnu--x86_64-cpu',
            'amdhsa.kernels': listed}


def assembly(metadata):
    data = pack(metadata)
    lines = ['.section .note.hipr,"a",@note', '.p2align 2', '.long 7', '.long %d' % len(data),
             '.long %d' % NOTE_TYPE, '.asciz "AMDGPU"', '.p2align 2']
    for i in range(0, len(data), 64):
        lines.append('.byte ' + ','.join(map(str, data[i:i + 64])))
    return '\n'.join(lines + ['.p2align 2', '.section .note.GNU-stack,"",@progbits']) + '\n'
