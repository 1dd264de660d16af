# SPDX-License-Identifier: Apache-2.0
"""tools/rdma-vm: python3 -m rdma_vm."""
import sys

from . import cli

sys.exit(cli.main(sys.argv[1:]))
