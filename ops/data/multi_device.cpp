// Whoever asks reads for the others too, until it is its own turn.
#include <troupe/ops/data/multi_device.hpp>

#include <troupe/messaging/tensor_codec.hpp>
#include <troupe/ops/containers/shared.hpp>

namespace troupe {

StatusOr<std::int64_t> MultiDeviceIterator::start(const DatasetPtr& dataset) {
  TRY(check_types(facts_.types, dataset->element.types));
  TRY(check_shapes(facts_.shapes, dataset->element.shapes));
  run_ = std::make_shared<Run>();
  run_->pass = std::make_shared<Pass>(dataset);
  run_->kept.resize(shards_);
  return ++incarnation_;
}

void MultiDeviceIterator::next(Step& step, std::size_t shard, std::int64_t incarnation, Pass::Taker take) {
  if (!run_) return take(Poll::failed, failed_precondition("The multi-device iterator has not been initialized."), {});
  if (incarnation != incarnation_)
    return take(Poll::failed, invalid("Invalid incarnation id. Provided: {}; Expected: {}", incarnation, incarnation_), {});
  if (shard >= shards_) return take(Poll::failed, invalid("Shard {} of {} does not exist", shard, shards_), {});
  read(step, shard, run_, std::move(take));
}

void MultiDeviceIterator::read(Step& step, std::size_t shard, std::shared_ptr<Run> run, Pass::Taker take) {
  auto& kept = run->kept[shard];
  if (!kept.empty()) {
    Answer answer = std::move(kept.front());
    kept.pop_front();
    return take(answer.poll, std::move(answer.status), std::move(answer.element));
  }
  if (run->over) return take(Poll::end, absl::OkStatus(), {});
  run->pass->next(step, [self = shared_from_this(), &step, shard, run, take = std::move(take)](Poll poll, Status status, Tuple element) mutable {
    if (step.cancellation && step.cancellation->cancelled()) return take(Poll::failed, step.cancellation->reason(), {});
    if (poll == Poll::end) run->over = true;
    else {
      run->kept[run->turn].push_back({poll, std::move(status), std::move(element)});
      run->turn = (run->turn + 1) % run->kept.size();
    }
    self->read(step, shard, run, std::move(take));
  });
}

namespace {

using Devices = Attr<"devices", std::vector<std::string>>;

struct PrivateExit : Exit {
  static StatusOr<PrivateExit> make(Binding& binding) {
    TRY_ASSIGN(Exit exit, make_private(binding));
    return PrivateExit{std::move(exit)};
  }
};

Tensor anonymous(Step& step, const ElementFacts& facts, std::size_t devices) {
  const std::string name = fmt::format("AnonymousMultiDeviceIterator{}", step.resources->next_number());
  ResourceHandle handle = step.resources->handle_to<MultiDeviceIterator>(step.device, step.resources->default_container(), name);
  handle.resource = std::make_shared<MultiDeviceIterator>(facts, devices);
  return Tensor::scalar<ResourceHandle>(std::move(handle));
}

}  // namespace

void add_multi_device_iterators(Registry& ops) {
  ops.add("MultiDeviceIterator", [](Call& call, Step& step, Devices devices, Elements elements, State<PrivateExit> exit) {
    auto make = [&]() -> StatusOr<std::shared_ptr<MultiDeviceIterator>> { return std::make_shared<MultiDeviceIterator>(elements, devices->size()); };
    auto check = [&](MultiDeviceIterator& found) -> Status {
      TRY(check_types(elements->types, found.facts().types));
      return check_shapes(elements->shapes, found.facts().shapes);
    };
    return exit->open<MultiDeviceIterator>(call, step, make, check);
  });
  ops.add("AnonymousMultiDeviceIteratorV3",
          [](Call& call, Step& step, Devices devices, Elements elements) { call.set(0, anonymous(step, elements, devices->size())); });
  ops.add("AnonymousMultiDeviceIterator", [](Call& call, Step& step, Devices devices, Elements elements) {
    call.set(0, anonymous(step, elements, devices->size()));
    call.set(1, Tensor(DType::variant, Shape{}));
  });
  ops.add("DeleteMultiDeviceIterator", [](Call&, Handle handle, List, Any, Step& step) -> Status {
    if (!handle->resource) (void)step.resources->erase(handle->container, handle->name, resource_type<MultiDeviceIterator>::name);
    return absl::OkStatus();
  });
  ops.add("MultiDeviceIteratorInit", [](Call& call, DatasetIn dataset, Held<MultiDeviceIterator> iterator, Number<std::int64_t>) -> Status {
    TRY_ASSIGN(const std::int64_t incarnation, iterator->start(dataset));
    call.set_scalar<std::int64_t>(0, incarnation);
    return absl::OkStatus();
  });
  ops.add("MultiDeviceIteratorGetNextFromShard", [](Call& call, Step& step, Held<MultiDeviceIterator> iterator, Number<std::int32_t> shard,
                                                    Number<std::int64_t> incarnation, Elements elements, Done done) {
    iterator->next(step, static_cast<std::size_t>(*shard), *incarnation,
                   [&call, &facts = elements.facts, done = std::move(done)](Poll poll, Status status, Tuple element) {
                     if (poll == Poll::failed) return done(std::move(status));
                     if (poll == Poll::end) return done(out_of_range("End of sequence"));
                     if (Status fits = check_element(facts, element); !fits.ok()) return done(std::move(fits));
                     for (std::size_t i = 0; i < element.size(); ++i) call.set(static_cast<int>(i), std::move(element[i]));
                     done(absl::OkStatus());
                   });
  });
  ops.add("MultiDeviceIteratorToStringHandle", [](Call& call, Step& step, Handle handle) -> Status {
    TRY(step.resources->find<MultiDeviceIterator>(*handle.operator->()).status());
    wire::ResourceHandleProto proto;
    to_proto(handle.handle, &proto);
    call.set_scalar<std::string>(0, proto.SerializeAsString());
    return absl::OkStatus();
  });
  ops.add("MultiDeviceIteratorFromStringHandle", [](Call& call, Step& step, Any text, Elements elements) -> Status {
    if (text->rank() != 0 || text->dtype() != DType::string) return invalid("string_handle must be a scalar");
    wire::ResourceHandleProto proto;
    if (!proto.ParseFromString(text->item<std::string>())) return invalid("Could not parse string_handle as a valid ResourceHandle");
    TRY_ASSIGN(const ResourceHandle handle, handle_from_proto(proto));
    if (handle.device != step.device)
      return invalid("Attempted create an iterator on device \"{}\" from handle defined on device \"{}\"", step.device, handle.device);
    TRY_ASSIGN(auto iterator, step.resources->find<MultiDeviceIterator>(handle));
    if (!elements->types.empty()) TRY(check_types(elements->types, iterator->facts().types));
    if (!elements->shapes.empty()) TRY(check_shapes(elements->shapes, iterator->facts().shapes));
    call.set(0, Tensor::scalar<ResourceHandle>(handle));
    return absl::OkStatus();
  });
}

}  // namespace troupe
