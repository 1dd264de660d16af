// SPDX-License-Identifier: Apache-2.0
// The constant of gfx1100 that AMD's device libraries ask for, which Debian 12's do not have.
const __attribute__((address_space(4), weak, visibility("hidden"))) int __oclc_ISA_version = 11000;
