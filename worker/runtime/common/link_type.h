// SPDX-License-Identifier: Apache-2.0
// HSA's numbers for links between devices, which HIP passes on.
#pragma once

namespace tf::runtime {

enum class LinkType { kPci = 2, kXgmi = 4 };

}  // namespace tf::runtime
