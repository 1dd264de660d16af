# SPDX-License-Identifier: Apache-2.0
"""Open MPI: mpi_peer.c under mpirun, over its shared-memory and its TCP transport."""
import os
import pathlib
import subprocess

from harness.processes import run

from . import peer

SOURCE = pathlib.Path(__file__).resolve().parent / 'mpi_peer.c'


class OpenMpi(peer.Peer):
    name = 'Open MPI'
    packages = ('openmpi-bin', 'libopenmpi-dev')
    transports = ('shm', 'tcp')
    note = 'windows of 64 messages one way; a byte answers each payload'

    def prepare(self, directory):
        self.program = os.path.join(directory, 'mpi_peer')
        peer.compile_helper(['mpicc', '-O2', '-o', self.program], SOURCE)

    def version(self):
        text = subprocess.run(['mpirun', '--version'], capture_output=True, text=True).stdout
        return text.split()[3] if len(text.split()) > 3 else ''

    def measure(self, transport, metric, size, placement, share=1.0):
        count = peer.repetitions(transport, metric, size, share)
        pinned = placement.name == 'pinned'
        cores = [min(placement.client), min(placement.server)] if pinned else [-1, -1]
        btl = ['--mca', 'btl', 'self,tcp', '--mca', 'btl_tcp_if_include', 'lo'] if transport == 'tcp' else \
              ['--mca', 'btl', 'self,vader']
        command = ['mpirun', '--allow-run-as-root', '-n', '2', '--oversubscribe', '--bind-to', 'none',
                   '--mca', 'pml', 'ob1', '--mca', 'oob_tcp_if_include', 'lo', *btl,
                   self.program, metric, str(size), str(count), *map(str, cores)]
        environment = {'OMPI_MCA_btl_base_warn_component_unused': '0', 'OMPI_ALLOW_RUN_AS_ROOT': '1',
                       'OMPI_ALLOW_RUN_AS_ROOT_CONFIRM': '1'}
        text, cpu = run(command, placement.client | placement.server, environment)
        return peer.Figure(peer.field(text, metric), count, cpu, 'tcp' if transport == 'tcp' else 'vader')
