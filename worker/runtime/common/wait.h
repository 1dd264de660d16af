// SPDX-License-Identifier: Apache-2.0
// Whether a call returns only when its copy or fill is done.
#pragma once

namespace tf::runtime {

enum class Wait { kNo, kYes };

}  // namespace tf::runtime
