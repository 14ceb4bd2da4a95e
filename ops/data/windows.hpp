// Elements that are at hand, as a dataset.
#pragma once

#include <troupe/ops/data/dataset.hpp>

namespace troupe {

/// A dataset of these elements.
Dataset window_of(std::vector<Tuple> elements, ElementFacts facts);

}  // namespace troupe
