# SPDX-License-Identifier: Apache-2.0
"""hip-remote bench --compare: every target of the project, measured in one run beside its limit and the peers."""
