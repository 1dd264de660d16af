// SPDX-License-Identifier: Apache-2.0
#pragma once
// Adds `factor` times every index to the n numbers at `numbers`, on the device.
void add_indices(int* numbers, int n, int factor);
