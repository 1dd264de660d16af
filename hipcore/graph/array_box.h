// SPDX-License-Identifier: Apache-2.0
// Turns the addresses of a box back into arrays and positions, for runtimes whose arrays are no memory
// (hipcore/array/place.h). Pure functions; any thread.
#pragma once

#include <optional>

#include "hipcore/array/place.h"
#include "hipcore/graph/box.h"

namespace tf::graph {

// A copy as the three-dimensional functions of HIP and CUDA want it: slices of memory are whole rows apart.
struct ArrayBox {
  Box box;
  // At the ends that are arrays.
  std::optional<array::Position> target;
  std::optional<array::Position> source;
};

// `target`, `source`: the arrays at the ends; null: memory. Nothing: it takes more than one such copy, or the
// box leaves an array. REQUIRES: is_valid(box), and it is not empty
std::optional<ArrayBox> as_one_copy(Box box, const array::Place* target, const array::Place* source);

// The slices of a box, or the rows if it has one slice: what to try instead. REQUIRES: it has more than one
class BoxLayers {
 public:
  explicit BoxLayers(const Box& box) : box_(box), slices_(box.depth > 1) {}
  std::optional<Box> next();

 private:
  Box box_;
  bool slices_;
  std::uint64_t at_ = 0;
};

}  // namespace tf::graph
