// Elements made where it may block, some of them ahead of who asks.
#pragma once

#include <troupe/ops/data/dataset.hpp>

#include <memory>

namespace troupe {

/// Makes elements on a thread that may block; nobody else touches it meanwhile.
class Producer {
 public:
  virtual ~Producer() = default;
  /// False at the end. After a failure it is asked again, should somebody want more.
  virtual StatusOr<bool> next(Tuple& out) = 0;
};

SourcePtr read_ahead(std::unique_ptr<Producer> producer);

}  // namespace troupe
