# SPDX-License-Identifier: Apache-2.0
# Failures on purpose. From config: BUILD, TESTS (the folder of rdma_test.py, which does them), TRANSPORT. And what only
# a kernel with nobody else on it can be asked for: cgroups with all controllers.
source "$VM/config"
source "$VM/guest/lib.sh"
progress "failures over $TRANSPORT"
# The harness takes an emulated machine for a sanitized build: as slow.
export TF_BUILD_DIR=$BUILD TF_SANITIZED=1 TF_FAULT_TRANSPORT=$TRANSPORT PYTHONDONTWRITEBYTECODE=1
HIP_CPU_MEMORY_BYTES=$((256 << 20)) record faults "$FAULTS_LIMIT" python3 "$TESTS/rdma_test.py"
progress "limits by cgroups"
HIP_CPU_MEMORY_BYTES=$((512 << 20)) record cgroups "$FAULTS_LIMIT" python3 "$TESTS/cgroups_test.py"
exit 0
