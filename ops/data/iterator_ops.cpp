// Ops on iterators: made, started, asked, passed around as strings.
#include <troupe/messaging/tensor_codec.hpp>
#include <troupe/ops/containers/shared.hpp>
#include <troupe/ops/data/iterator.hpp>
#include <troupe/ops/data/optional.hpp>

namespace troupe {
namespace {

/// A node without a shared name has its iterator for itself.
struct PrivateExit : Exit {
  static StatusOr<PrivateExit> make(Binding& binding) {
    TRY_ASSIGN(Exit exit, make_private(binding));
    return PrivateExit{std::move(exit)};
  }
};

/// The iterator of a node that makes its own at its first run; all who come meanwhile wait.
struct OneShot {
  Exit exit;
  bool started = false, over = false;
  Status status;
  std::vector<std::pair<Call*, Done>> waiting;
  static StatusOr<OneShot> make(Binding& binding) {
    OneShot shot;
    TRY_ASSIGN(shot.exit, Exit::make_private(binding));
    return shot;
  }
};

Status open_one_shot(OneShot& shot, Call& call, Step& step, const ElementFacts& facts, const StatusOr<Tuple>& results) {
  TRY(results.status());
  if (results->size() != 1 || (*results)[0].dtype() != DType::variant || (*results)[0].rank() != 0)
    return invalid("The `dataset_factory` function must return a single scalar of dtype DT_VARIANT.");
  TRY_ASSIGN(const DatasetPtr dataset, dataset_in((*results)[0]));
  auto make = [&]() -> StatusOr<std::shared_ptr<DataIterator>> {
    auto iterator = std::make_shared<DataIterator>(facts);
    TRY(iterator->start(dataset));
    return iterator;
  };
  return shot.exit.open<DataIterator>(call, step, make, [](DataIterator&) { return absl::OkStatus(); });
}

/// Older ones are found by name, also through a string, until somebody deletes them; those that no store has live as long as handles to them.
Tensor anonymous(Step& step, const ElementFacts& facts, bool stored) {
  const std::string name = fmt::format("AnonymousIterator{}", step.resources->next_number()), container = step.resources->default_container();
  ResourceHandle handle = step.resources->handle_to<DataIterator>(step.device, container, name);
  auto iterator = std::make_shared<DataIterator>(facts);
  if (stored) step.resources->put(container, name, resource_type<DataIterator>::name, std::move(iterator));
  else handle.resource = std::move(iterator);
  return Tensor::scalar<ResourceHandle>(std::move(handle));
}

void give_next(Call& call, Step& step, DataIterator& iterator, const ElementFacts& facts, Done done) {
  iterator.next(step, [&call, &facts, done = std::move(done)](Poll poll, Status status, Tuple element) {
    if (poll == Poll::failed) return done(std::move(status));
    if (poll == Poll::end) return done(out_of_range("End of sequence"));
    if (Status fits = check_element(facts, element); !fits.ok()) return done(std::move(fits));
    for (std::size_t i = 0; i < element.size(); ++i) call.set(static_cast<int>(i), std::move(element[i]));
    done(absl::OkStatus());
  });
}

StatusOr<ResourceHandle> parse_handle(const std::string& text) {
  wire::ResourceHandleProto proto;
  if (!proto.ParseFromString(text)) return invalid("Could not parse string_handle as a valid ResourceHandle");
  return handle_from_proto(proto);
}

}  // namespace

void add_iterators(Registry& ops) {
  ops.add({"Iterator", "IteratorV2"}, [](Call& call, Step& step, Elements elements, State<PrivateExit> exit) {
    auto make = [&]() -> StatusOr<std::shared_ptr<DataIterator>> { return std::make_shared<DataIterator>(elements); };
    auto check = [&](DataIterator& found) -> Status {
      TRY(check_types(elements->types, found.facts().types));
      return check_shapes(elements->shapes, found.facts().shapes);
    };
    return exit->open<DataIterator>(call, step, make, check);
  });
  ops.add("AnonymousIterator", [](Call& call, Step& step, Elements elements) { call.set(0, anonymous(step, elements, true)); });
  ops.add("AnonymousIteratorV3", [](Call& call, Step& step, Elements elements) { call.set(0, anonymous(step, elements, false)); });
  ops.add("AnonymousIteratorV2", [](Call& call, Step& step, Elements elements) {
    call.set(0, anonymous(step, elements, false));
    call.set(1, Tensor(DType::variant, Shape{}));
  });
  ops.add("DeleteIterator", [](Call&, Handle handle, Any, Step& step) -> Status {
    if (!handle->resource) (void)step.resources->erase(handle->container, handle->name, resource_type<DataIterator>::name);
    return absl::OkStatus();
  });
  ops.add("MakeIterator", [](Call&, DatasetIn dataset, Held<DataIterator> iterator) { return iterator->start(dataset); });
  ops.add({"IteratorGetNext", "IteratorGetNextSync"}, [](Call& call, Step& step, Held<DataIterator> iterator, Elements elements, Done done) {
    give_next(call, step, *iterator.object, elements.facts, std::move(done));
  });
  ops.add("IteratorGetNextAsOptional", [](Call& call, Step& step, Held<DataIterator> iterator, Elements elements, Done done) {
    iterator->next(step, [&call, &facts = elements.facts, done = std::move(done)](Poll poll, Status status, Tuple element) {
      if (poll == Poll::failed) return done(std::move(status));
      if (poll == Poll::ready)
        if (Status fits = check_components(facts, element); !fits.ok()) return done(std::move(fits));
      call.set(0, to_tensor(poll == Poll::end ? OptionalValue(std::nullopt) : OptionalValue(std::move(element))));
      done(absl::OkStatus());
    });
  });
  ops.add("OneShotIterator",
          [](Call& call, Step& step, Attr<"dataset_factory", wire::NameAttrList> factory, Elements elements, State<OneShot> state, Done done) {
            OneShot& shot = *state;
            if (shot.over) {
              if (shot.status.ok()) shot.exit.give<DataIterator>(call, step);
              return done(shot.status);
            }
            shot.waiting.emplace_back(&call, std::move(done));
            if (std::exchange(shot.started, true)) return;
            step.call_function(*factory, {}, [&call, &step, &shot, &facts = elements.facts](StatusOr<Tuple> results) {
              shot.status = open_one_shot(shot, call, step, facts, results);
              shot.over = true;
              for (auto& [waiting, told] : std::exchange(shot.waiting, {})) {
                if (shot.status.ok()) shot.exit.give<DataIterator>(*waiting, waiting->step());
                told(shot.status);
              }
            });
          });
  ops.add({"IteratorGetDevice", "ExperimentalIteratorGetDevice"},
          [](Call& call, Step& step, Held<DataIterator>) { call.set_scalar<std::string>(0, step.device); });
  ops.add("IteratorToStringHandle", [](Call& call, Step& step, Handle handle) -> Status {
    TRY(step.resources->find<DataIterator>(*handle.operator->()).status());
    wire::ResourceHandleProto proto;
    to_proto(handle.handle, &proto);
    call.set_scalar<std::string>(0, proto.SerializeAsString());
    return absl::OkStatus();
  });
  ops.add({"IteratorFromStringHandle", "IteratorFromStringHandleV2"}, [](Call& call, Step& step, Any text, Elements elements) -> Status {
    if (text->rank() != 0 || text->dtype() != DType::string) return invalid("string_handle must be a scalar");
    TRY_ASSIGN(const ResourceHandle handle, parse_handle(text->item<std::string>()));
    if (handle.device != step.device)
      return invalid("Attempted create an iterator on device \"{}\" from handle defined on device \"{}\"", step.device, handle.device);
    TRY_ASSIGN(auto iterator, step.resources->find<DataIterator>(handle));
    if (!elements->types.empty()) TRY(check_types(elements->types, iterator->facts().types));
    if (!elements->shapes.empty()) TRY(check_shapes(elements->shapes, iterator->facts().shapes));
    call.set(0, Tensor::scalar<ResourceHandle>(handle));
    return absl::OkStatus();
  });
}

}  // namespace troupe
