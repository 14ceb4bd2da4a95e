// Batches taken apart again, and gradients put together, across steps: whoever has the whole gives it to those who wait for their part.
#include <troupe/ops/batching/queue.hpp>
#include <troupe/ops/state/resource_name.hpp>

#include <set>

namespace troupe {
namespace {

struct Owned {
  ResourceName where;
  static StatusOr<Owned> make(Binding& binding) {
    Owned place;
    TRY_ASSIGN(place.where, ResourceName::make(binding));
    return place;
  }
  template <class R>
  std::shared_ptr<R> open(Step& step) const {
    const std::string& container = step.resources->container_or_default(where.container);
    if (auto found = step.resources->find<R>(container, where.name); found.ok()) return *found;
    auto made = std::make_shared<R>();
    step.resources->put(container, where.name, resource_type<R>::name, made);
    return made;
  }
};

/// Rows of an index: whose part, from where, to where.
Status check_index(const Tensor& index) {
  if (index.dtype() != DType::i64 || index.rank() != 2 || index.dim(1) != 3)
    return invalid("batch_index must be a matrix with 3 columns, not {}", index.shape());
  return absl::OkStatus();
}

/// Parts that came before who wants them, and who came before their part.
class Unbatching final : public Resource, public std::enable_shared_from_this<Unbatching> {
 public:
  std::string describe() const override { return fmt::format("unbatching, {} parts, {} waiting", parts_.size(), waiting_.size()); }

  void take(Call& call, Step& step, std::int64_t id, std::int64_t timeout_micros, Done done) {
    if (auto found = parts_.find(id); found != parts_.end()) {
      call.set(0, std::move(found->second));
      parts_.erase(found);
      return done(absl::OkStatus());
    }
    Cancellation* cancellation = step.cancellation;
    if (cancellation && cancellation->cancelled()) return done(cancellation->reason());
    if (waiting_.contains(id)) return done(already_exists("Multiple session runs with the same batch key."));
    auto waiter = std::make_shared<Waiter>(Waiter{&call, &step, std::move(done)});
    waiting_[id] = waiter;
    auto self = shared_from_this();
    if (cancellation) waiter->token = cancellation->on_cancel([self, id, waiter, cancellation] { self->finish(id, waiter, cancellation->reason()); });
    StepHost* host = host_of(step);
    if (!host) return finish(id, waiter, deadline_exceeded("Batched data did not arrive within timeout window."));
    host->run_blocking([over = waiter->over, timeout_micros] { over->WaitForNotificationWithTimeout(absl::Microseconds(timeout_micros)); },
                       [self, id, waiter] { self->finish(id, waiter, deadline_exceeded("Batched data did not arrive within timeout window.")); });
  }

  void put(std::int64_t id, Tensor part) {
    auto found = waiting_.find(id);
    if (found == waiting_.end()) {
      parts_[id] = std::move(part);
      return;
    }
    auto waiter = found->second;
    waiter->call->set(0, std::move(part));
    finish(id, waiter, absl::OkStatus());
  }

 private:
  struct Waiter {
    Call* call;
    Step* step;
    Done done;
    Cancellation::Token token = 0;
    std::shared_ptr<absl::Notification> over = std::make_shared<absl::Notification>();
  };
  void finish(std::int64_t id, const std::shared_ptr<Waiter>& waiter, Status status) {
    auto found = waiting_.find(id);
    if (found == waiting_.end() || found->second != waiter) return;
    waiting_.erase(found);
    waiter->over->Notify();
    if (waiter->step->cancellation) waiter->step->cancellation->forget(waiter->token);
    waiter->done(std::move(status));
  }

  std::map<std::int64_t, Tensor> parts_;
  std::map<std::int64_t, std::shared_ptr<Waiter>> waiting_;
};

/// Gradients of parts, and the batches that wait for all of theirs.
class Gathering final : public Resource, public std::enable_shared_from_this<Gathering> {
 public:
  std::string describe() const override { return fmt::format("gradients of {} parts of batches", parts_.size()); }

  Status put(std::int64_t id, Tensor gradient) {
    if (!parts_.emplace(id, std::move(gradient)).second) return invalid("Two runs with the same batch key.");
    return absl::OkStatus();
  }

  void gather(Call& call, Step& step, std::vector<std::int64_t> ids, Done done) {
    Cancellation* cancellation = step.cancellation;
    if (cancellation && cancellation->cancelled()) return done(cancellation->reason());
    auto batch = std::make_shared<Whole>(Whole{&call, &step, std::move(ids), std::move(done)});
    waiting_.push_back(batch);
    if (cancellation)
      batch->token = cancellation->on_cancel([self = shared_from_this(), batch, cancellation] {
        self->waiting_.remove(batch);
        batch->done(cancellation->reason());
      });
  }

  /// Gives the batches that are complete.
  void serve() {
    auto alive = shared_from_this();
    for (auto at = waiting_.begin(); at != waiting_.end();) {
      auto batch = *at;
      if (!std::all_of(batch->ids.begin(), batch->ids.end(), [&](std::int64_t id) { return parts_.contains(id); })) {
        ++at;
        continue;
      }
      at = waiting_.erase(at);
      if (batch->step->cancellation) batch->step->cancellation->forget(batch->token);
      Batch parts;
      for (std::int64_t id : batch->ids) {
        auto part = std::make_unique<BatchTask>();
        part->inputs.push_back(parts_.extract(id).mapped());
        part->rows = part->inputs[0].rank() == 0 ? -1 : part->inputs[0].dim(0);
        parts.push_back(std::move(part));
      }
      batch->done(join(*batch->call, parts));
    }
  }

 private:
  struct Whole {
    Call* call;
    Step* step;
    std::vector<std::int64_t> ids;
    Done done;
    Cancellation::Token token = 0;
  };
  static Status join(Call& call, const Batch& parts) {
    for (const auto& part : parts)
      if (part->rows < 0) return invalid("Gradients of parts of a batch must have at least one dimension");
    TRY_ASSIGN(auto joined, joined_inputs(parts, 0));
    call.set(0, std::move(joined[0]));
    return absl::OkStatus();
  }

  std::map<std::int64_t, Tensor> parts_;
  std::list<std::shared_ptr<Whole>> waiting_;
};

}  // namespace

template <>
struct resource_type<Unbatching> {
  static constexpr const char* name = "N10tensorflow15UnbatchResourceE";
};
template <>
struct resource_type<Gathering> {
  static constexpr const char* name = "N10tensorflow19UnbatchGradResourceE";
};

void add_unbatching(Registry& ops) {
  ops.add("Unbatch",
          [](Call& call, Step& step, Any batched, Any index, Any id, Attr<"timeout_micros", std::int64_t> timeout, State<Owned> place, Done done) {
            if (id->size() != 1 || id->dtype() != DType::i64) return done(invalid("id must be a scalar int64, not {}", id->shape()));
            if (batched->rank() == 0) return done(invalid("Input to unbatch must have at least one dimension."));
            const std::int64_t rows = index->rank() == 0 ? 0 : index->dim(0);
            if (rows > 0) {
              if (Status fits = check_index(index.tensor); !fits.ok()) return done(std::move(fits));
            }
            auto unbatching = place->open<Unbatching>(step);
            const auto* at = rows > 0 ? index->data<std::int64_t>() : nullptr;
            for (std::int64_t i = 0; i < rows; ++i, at += 3)
              if (at[1] < 0 || at[2] < at[1] || at[2] > batched->dim(0))
                return done(invalid("Rows {} to {} are not in a batch of {}", at[1], at[2], batched->dim(0)));
            at = rows > 0 ? index->data<std::int64_t>() : nullptr;
            for (std::int64_t i = 0; i < rows; ++i, at += 3) unbatching->put(at[0], rows_between(batched.tensor, at[1], at[2]));
            unbatching->take(call, step, id->item<std::int64_t>(), *timeout, std::move(done));
          });
  ops.add("UnbatchGrad", [](Call& call, Step& step, Any original, Any index, Any gradient, Any id, State<Owned> place, Done done) {
    if (id->size() != 1 || id->dtype() != DType::i64) return done(invalid("id must be a scalar int64, not {}", id->shape()));
    const bool whole = index->rank() > 0 && index->dim(0) > 0;
    std::vector<std::int64_t> ids;
    if (whole) {
      if (Status fits = check_index(index.tensor); !fits.ok()) return done(std::move(fits));
      for (std::int64_t i = 0; i < index->dim(0); ++i) ids.push_back(index->data<std::int64_t>()[3 * i]);
      if (std::set<std::int64_t>(ids.begin(), ids.end()).size() != ids.size()) return done(invalid("A part of a batch is in it twice"));
    }
    auto gathering = place->open<Gathering>(step);
    if (Status put = gathering->put(id->item<std::int64_t>(), gradient.tensor); !put.ok()) return done(std::move(put));
    if (whole) {
      gathering->gather(call, step, std::move(ids), std::move(done));
    } else {
      Dims dims;
      for (std::int64_t d : original->shape().dims()) dims.push_back(d);
      if (!dims.empty()) dims[0] = 0;
      call.set(0, Tensor(original->dtype(), dims.empty() ? Shape{0} : Shape(dims)));
      done(absl::OkStatus());
    }
    gathering->serve();
  });
}

}  // namespace troupe
