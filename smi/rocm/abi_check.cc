// SPDX-License-Identifier: Apache-2.0
// The layouts of our declarations, and of the lists of frequencies in both forms.
#include "smi/rocm/layout.h"
#include "smi/rocm/types.h"

#define TF_SIZE(type, bytes) static_assert(sizeof(type) == (bytes));
#define TF_OFFSET(type, field, bytes) static_assert(offsetof(type, field) == (bytes));
#include "smi/rocm/layouts.inc"
TF_SIZE(rsmi_gpu_metrics_t, 96)
TF_SIZE(rsmi_metrics_header_t, 4)
TF_SIZE(rsmi_activity_metric_counter_t, 6)
TF_SIZE(tf::rsmi::Frequencies5, 264)
TF_OFFSET(tf::rsmi::Frequencies5, current, 4)
TF_OFFSET(tf::rsmi::Frequencies5, frequency, 8)
TF_SIZE(tf::rsmi::Bandwidth5, 392)
TF_OFFSET(tf::rsmi::Bandwidth5, lanes, 264)
TF_SIZE(tf::rsmi::Frequencies6, 280)
TF_OFFSET(tf::rsmi::Frequencies6, num_supported, 4)
TF_OFFSET(tf::rsmi::Frequencies6, current, 8)
TF_OFFSET(tf::rsmi::Frequencies6, frequency, 16)
TF_SIZE(tf::rsmi::Bandwidth6, 416)
TF_OFFSET(tf::rsmi::Bandwidth6, lanes, 280)
