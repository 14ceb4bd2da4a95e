// Handles that other runtimes give datasets, accepted and without effect here: pools of threads, aggregators of statistics.
#include <troupe/ops/containers/shared.hpp>
#include <troupe/ops/data/dataset.hpp>

namespace troupe {
namespace {

struct ThreadPool final : Resource {
  std::string describe() const override { return "thread pool of datasets"; }
};

}  // namespace

template <>
struct resource_type<ThreadPool> {
  static constexpr const char* name = "N10tensorflow4data12experimental12_GLOBAL__N_118ThreadPoolResourceE";
};

void add_thread_pools(Registry& ops) {
  ops.add({"ThreadPoolHandle", "ExperimentalThreadPoolHandle"},
          [](Call& call, Step& step, Attr<"num_threads", std::int64_t> threads, State<Exit> exit) -> Status {
            if (*threads <= 0) return invalid("`num_threads` must be greater than zero.");
            auto make = []() -> StatusOr<std::shared_ptr<ThreadPool>> { return std::make_shared<ThreadPool>(); };
            return exit->open<ThreadPool>(call, step, make, [](ThreadPool&) { return absl::OkStatus(); });
          });
  ops.add({"ThreadPoolDataset", "ExperimentalThreadPoolDataset"}, [](Call& call, DatasetIn input, Held<ThreadPool>) {
    Dataset dataset = over(input, "ThreadPool");
    dataset.open = input->open;
    return give(call, std::move(dataset));
  });
}

}  // namespace troupe
