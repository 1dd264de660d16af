# SPDX-License-Identifier: Apache-2.0
"""What the conductors of measurements share: processes, placement, packages, our own programs, tables."""
