# SPDX-License-Identifier: Apache-2.0
"""tools/rdma-vm: a small virtual machine with two soft-RoCE devices, where the rdma transport meets real verbs."""
