// Builds a graph with the installed headers, and runs it on the node whose address it is given.
#include <troupe/actors/client.hpp>
#include <troupe/ops/builder/nn.hpp>
#include <troupe/ops/builder/optimizer.hpp>

#include <cstdio>

using namespace troupe::build;
using troupe::ClientSession;
using troupe::Status;

namespace {

Status learn(const std::string& address) {
  Builder b;
  const Out x = b.constant(std::vector<float>{-1, 0, 1, 2}), y = b.constant(std::vector<float>{-1, 1, 3, 5});
  const Variable w = variable(b, "w", zeros({})), c = variable(b, "c", zeros({}));
  GradientDescent descent(0.1);
  const Op train = descent.minimize(mean(squared_difference(w * x + c, y)));
  b.initializer("init");
  TRY_ASSIGN(const auto graph, b.graph());
  if (address.empty()) return absl::OkStatus();
  TRY_ASSIGN(auto session, ClientSession::open(address, graph, {}));
  TRY(session->run({}, {}, {"init"}).status());
  for (int i = 0; i < 200; ++i) TRY(session->run({}, {}, {train.name()}).status());
  TRY_ASSIGN(const auto found, session->run({}, {w.snapshot.name(), c.snapshot.name()}, {}));
  fmt::print("y = {:.3f} x + {:.3f}\n", found[0].item<float>(), found[1].item<float>());
  return absl::OkStatus();
}

}  // namespace

int main(int argc, char** argv) {
  const Status status = learn(argc > 1 ? argv[1] : "");
  if (!status.ok()) fmt::print(stderr, "{}\n", troupe::text_of(status));
  return status.ok() ? 0 : 1;
}
