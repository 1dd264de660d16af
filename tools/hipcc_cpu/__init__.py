# SPDX-License-Identifier: Apache-2.0
"""HIP for the host's cores and NVIDIA GPUs: the pieces of the hipcc-cpu command (tools/hipcc-cpu)."""
