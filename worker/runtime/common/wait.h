// SPDX-License-Identifier: Apache-2.0
// Which form of a copy or fill was called. kYes: a synchronous one, which returns when it is done, except
// that a Backend may leave work between devices' memory to the stream (docs/copy-semantics.md). kNo: an
// asynchronous one.
#pragma once

namespace tf::runtime {

enum class Wait { kNo, kYes };

}  // namespace tf::runtime
