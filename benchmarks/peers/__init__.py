# SPDX-License-Identifier: Apache-2.0
"""Other people's transports, measured on the same sizes and in the same run as ours. One module per peer."""
from . import grpc, iperf3, libfabric, openmpi, ucx, zeromq

ALL = (ucx.Ucx, openmpi.OpenMpi, libfabric.Libfabric, zeromq.ZeroMq, grpc.Grpc,
       iperf3.Iperf3)
