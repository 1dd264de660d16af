# SPDX-License-Identifier: Apache-2.0
# Failures on purpose. From config: BUILD, TESTS (the folder of rdma_test.py, which does them), TRANSPORT.
source "$VM/config"
source "$VM/guest/lib.sh"
progress "failures over $TRANSPORT"
# The harness takes an emulated machine for a sanitized build: as slow.
export TF_BUILD_DIR=$BUILD TF_SANITIZED=1 TF_FAULT_TRANSPORT=$TRANSPORT PYTHONDONTWRITEBYTECODE=1
HIP_CPU_MEMORY_BYTES=$((256 << 20)) record faults "$FAULTS_LIMIT" python3 "$TESTS/rdma_test.py"
exit 0
