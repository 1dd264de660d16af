# SPDX-License-Identifier: Apache-2.0
"""What users type, described once (reference.toml); everything that tells of it is made by make.py."""
