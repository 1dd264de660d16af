# SPDX-License-Identifier: Apache-2.0
# Test programs of a folder, natively and over rdma. From config: BUILD (folder of binaries), FIDELITY (the tool),
# PROGRAMS (the folder), WORDS (more words for the tool, quoted for a shell). What the tool says is what is shown, and
# its status is the machine's.
source "$VM/config"
eval "set -- $WORDS"
export TF_RDMA_DEVICE=rxe0 TF_CONNECT_TIMEOUT=40
exec "$FIDELITY" "$PROGRAMS" --build "$BUILD" --ways native,rdma "$@"
