// Accumulators and the arithmetic of dense gradients.
#include <troupe/ops/resources/accumulator.hpp>

#include <troupe/ops/math/loops.hpp>

#include <utility>

namespace troupe {
namespace {

class DenseSum final : public GradientSum {
 public:
  Status check(const Gradient& gradient, const PartialShape& shape, bool started) const override {
    const Shape& given = gradient[0].shape();
    if (started && sum_.shape() != given) return invalid("Shape mismatch: expected {}, got {}", sum_.shape(), given);
    if (!shape.compatible_with(given)) return invalid("Shape mismatch: expected {}, got {}", shape, given);
    return absl::OkStatus();
  }
  void start(const Gradient& gradient) override { sum_ = gradient[0]; }
  void add(const Gradient& gradient) override {
    visit_dtype(floats{}, sum_.dtype(), [&]<class T>() { combine<T>(gradient[0].data<T>(), false, [](T x, T y) { return x + y; }); });
  }
  Gradient take(const PartialShape&, std::int64_t count, bool mean) override {
    if (mean)
      visit_dtype(floats{}, sum_.dtype(), [&]<class T>() {
        const T n = static_cast<T>(static_cast<float>(count));
        combine<T>(&n, true, [](T x, T y) { return x / y; });
      });
    return {std::exchange(sum_, Tensor())};
  }

 private:
  /// Each element with its one of y, or with the only one, in place where nobody else holds the sum.
  template <class T, class F>
  void combine(const T* y, bool repeats, F f) {
    Tensor fresh = sum_.unique() ? Tensor() : Tensor(sum_.dtype(), sum_.shape());
    Tensor& out = sum_.unique() ? sum_ : fresh;
    detail::each_of_row(f, sum_.data<T>(), false, y, repeats, out.mutable_data<T>(), sum_.size());
    if (&out == &fresh) sum_ = std::move(fresh);
  }
  Tensor sum_;
};

}  // namespace

std::unique_ptr<GradientSum> dense_sum() { return std::make_unique<DenseSum>(); }

Status Accumulator::apply(std::int64_t local_step, const Gradient& gradient) {
  if (local_step < step_) return absl::OkStatus();
  TRY(sum_->check(gradient, facts_.shape, count_ > 0));
  if (count_ > 0) sum_->add(gradient);
  else sum_->start(gradient);
  ++count_;
  settle();
  return absl::OkStatus();
}

void Accumulator::take(Step& step, std::int32_t required, std::function<void(Gradient)> take, Done done) {
  if (required <= 0) return done(invalid("Argument num_required must be positive, but was {}", required));
  auto attempt = [this, required, take = std::move(take)](Status&) {
    if (count_ < required) return WaitingLine::Progress::none;
    ++step_;
    take(sum_->take(facts_.shape, count_, facts_.mean));
    count_ = 0;
    return WaitingLine::Progress::complete;
  };
  taking_.join(&step, "TakeGrad operation was cancelled", std::move(attempt), std::move(done), [self = shared_from_this()] { self->settle(); });
  settle();
}

void Accumulator::settle() {
  Endings endings;
  taking_.serve(endings);
  endings.tell();
}

}  // namespace troupe
