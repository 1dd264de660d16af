// SPDX-License-Identifier: Apache-2.0
// Whether a copy or a fill is done when its call returns.
#pragma once

namespace tf::runtime {

enum class Wait { kNo, kYes };

}  // namespace tf::runtime
