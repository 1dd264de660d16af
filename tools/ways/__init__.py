# SPDX-License-Identifier: Apache-2.0
"""A program natively and over each transport: what tools/device-run and tools/fidelity have in common."""
