// Several kernels with row forms as one: what one makes for the next stays in the first cache.
#pragma once

#include <troupe/ops/call.hpp>
#include <troupe/ops/row_form.hpp>

#include <cstdint>
#include <vector>

namespace troupe {

/// Straight-line code of row functions, run for one block of elements after the other. Its result is that of its last instruction.
class RowProgram {
 public:
  /// Where an instruction finds an operand: an input of the program, one of its constants, or the result of an earlier instruction.
  struct Operand {
    enum class Kind : std::uint8_t { input, constant, result } kind = Kind::input;
    int index = 0;
  };
  struct Instruction {
    RowForm form;
    Operand x, y;
  };

  RowProgram(std::vector<Instruction> instructions, std::vector<Tensor> constants, int inputs);

  /// Some programs are never of use: constants of different shapes, or more results held at once than the cache should.
  bool usable() const { return usable_; }

  /// Sets output 0. Leaves all as it was and says false for inputs that are neither of one shape nor single elements, or of other types:
  /// kernels do more than their row forms.
  bool run(Call& call) const;

 private:
  static constexpr int most_held = 12;

  struct Step {
    Instruction what;
    std::int64_t in_size = 0, out_size = 0;  // of an element
    int place = 0;                           // of the result among those held
  };
  struct Source {
    const char* data = nullptr;
    bool repeats = false;
  };

  void know_constants();
  void place_results();
  Tensor make_output(Call& call, const Shape& shape) const;
  const Shape* output_shape(const Call& call) const;
  void run_range(std::span<const Source> inputs, char* out, std::int64_t first, std::int64_t last) const;

  std::vector<Step> steps_;
  std::vector<Tensor> constants_;
  std::vector<Source> constants_at_;
  std::vector<DType> types_;  // of the inputs
  std::int64_t block_ = 1;    // elements computed at a time
  Shape shape_;               // of constants with several elements, where there are any
  Shape single_;              // of the constant with one element and the most dimensions
  bool has_shape_ = false;
  bool strict_ = false;  // some form does not broadcast
  bool usable_ = true;
};

}  // namespace troupe
