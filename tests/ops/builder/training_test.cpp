// Optimizers at work, in this process.
#include "evaluator.hpp"

#include <troupe/ops/builder/nn.hpp>
#include <troupe/ops/builder/optimizer.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace troupe::build {
namespace {

using Make = std::function<std::unique_ptr<Optimizer>()>;

struct Rule {
  std::string name;
  Make make;
};

std::vector<Rule> rules() {
  return {{"GradientDescent", [] { return std::make_unique<GradientDescent>(0.1); }},
          {"Momentum", [] { return std::make_unique<Momentum>(0.05, 0.5); }},
          {"Nesterov", [] { return std::make_unique<Momentum>(0.05, 0.5, true); }},
          {"Adagrad", [] { return std::make_unique<Adagrad>(0.5); }},
          {"RmsProp", [] { return std::make_unique<RmsProp>(0.05); }},
          {"Adam", [] { return std::make_unique<Adam>(0.1); }},
          {"Ftrl", [] { return std::make_unique<Ftrl>(0.5); }}};
}

std::unique_ptr<Evaluator> evaluator_of(const Builder& b) {
  auto graph = b.graph();
  EXPECT_TRUE(graph.ok()) << graph.status();
  if (!graph.ok()) return nullptr;
  auto made = Evaluator::of(*graph);
  EXPECT_TRUE(made.ok()) << made.status();
  return made.ok() ? std::move(*made) : nullptr;
}

class Training : public testing::TestWithParam<std::tuple<Rule, bool>> {};

TEST_P(Training, FindsALine) {
  const auto& [rule, resource] = GetParam();
  Builder b;
  const Out x = b.constant(std::vector<float>{-2, -1, 0, 1, 2}, "x"), y = b.constant(std::vector<float>{-3, -1, 1, 3, 5}, "y");
  const VariableOptions options{.resource = resource};
  const Variable w = variable(b, "w", value_of(0.5f), options), c = variable(b, "c", zeros({}), options);
  const Out loss = mean(squared_difference(w * x + c, y), {}, "loss");
  const Variable step = global_step(b);
  const auto optimizer = rule.make();
  const Op train = optimizer->minimize(loss, step);
  b.initializer();
  auto evaluator = evaluator_of(b);
  ASSERT_TRUE(evaluator);
  ASSERT_TRUE(evaluator->run({}, {"init"}).ok());
  const auto first = evaluator->run({}, {"loss:0"});
  ASSERT_TRUE(first.ok()) << first.status();
  for (int i = 0; i < 150; ++i) {
    auto done = evaluator->run({}, {train.name()});
    ASSERT_TRUE(done.ok()) << done.status();
  }
  const auto last = evaluator->run({}, {"loss:0", step.snapshot.name()});
  ASSERT_TRUE(last.ok()) << last.status();
  EXPECT_LT((*last)[0].item<float>(), 0.05f * (*first)[0].item<float>());
  EXPECT_EQ((*last)[1].item<std::int64_t>(), 150);
}

std::string label(const testing::TestParamInfo<std::tuple<Rule, bool>>& info) {
  return std::get<0>(info.param).name + (std::get<1>(info.param) ? "" : "OfReferences");
}
INSTANTIATE_TEST_SUITE_P(Rules, Training, testing::Combine(testing::ValuesIn(rules()), testing::Bool()), label);

/// A table trained through looked-up rows, and the same table trained whole through a product with one-hot rows.
void compare_rows_with_whole(const Make& make, bool resource) {
  std::vector<Tensor> tables;
  for (bool sparse : {true, false}) {
    Builder b;
    const Out ids = b.constant(std::vector<std::int32_t>{4, 1, 4, 0}, "ids");
    Tensor start(DType::f32, {6, 2});
    for (int i = 0; i < 12; ++i) start.mutable_data<float>()[i] = 0.1f * static_cast<float>(i) - 0.5f;
    const Variable table = variable(b, "table", value_of(start), {.resource = resource});
    const Out rows = sparse ? embedding_lookup(table, ids) : matmul(one_hot(ids, 6), table);
    const Out loss = sum(square(rows - 1) * b.constant(std::vector<float>{1, -2}));
    const auto optimizer = make();
    const auto grads = optimizer->compute_gradients(loss);
    EXPECT_EQ(grads[0].grad.is_sparse(), sparse);
    const Op train = optimizer->apply_gradients(grads);
    b.initializer();
    auto evaluator = evaluator_of(b);
    ASSERT_TRUE(evaluator);
    ASSERT_TRUE(evaluator->run({}, {"init"}).ok());
    for (int i = 0; i < 5; ++i) {
      auto done = evaluator->run({}, {train.name()});
      ASSERT_TRUE(done.ok()) << done.status();
    }
    auto value = evaluator->run({}, {table.snapshot.name()});
    ASSERT_TRUE(value.ok());
    tables.push_back((*value)[0].copy());
  }
  for (int i = 0; i < 12; ++i) EXPECT_NEAR(tables[0].data<float>()[i], tables[1].data<float>()[i], 1e-5) << i;
}

TEST(SparseTraining, IsThatOfTheWholeTable) {
  for (const auto& rule : rules()) {
    // The others leave rows alone that no step has touched; whole tables fade.
    if (rule.name != "GradientDescent" && rule.name != "Adagrad" && rule.name != "Adam") continue;
    SCOPED_TRACE(rule.name);
    compare_rows_with_whole(rule.make, true);
    compare_rows_with_whole(rule.make, false);
  }
}

TEST(SparseTraining, ATableInPartsIsOneTable) {
  Builder b;
  std::vector<Variable> parts;
  for (int p = 0; p < 3; ++p) {
    std::vector<float> rows;
    for (int i = 0; i < 4; ++i) rows.insert(rows.end(), {static_cast<float>(3 * i + p), -static_cast<float>(3 * i + p)});
    parts.push_back(variable(b, "part", value_of(Tensor::of<float>({4, 2}, rows))));
  }
  const Out ids = b.constant(Tensor::of<std::int32_t>({2, 2}, std::vector<std::int32_t>{7, 0, 11, 7}));
  const Out found = embedding_lookup(parts, ids);
  EXPECT_EQ(found.shape(), dims({2, 2, 2}));
  const auto grads = gradients(sum(found), parts);
  b.initializer();
  auto evaluator = evaluator_of(b);
  ASSERT_TRUE(evaluator);
  ASSERT_TRUE(evaluator->run({}, {"init"}).ok());
  auto values = evaluator->run({}, {found.name(), grads[1].sparse().indices.name()});
  ASSERT_TRUE(values.ok()) << values.status();
  EXPECT_THAT((*values)[0].values<float>(), testing::ElementsAre(7, -7, 0, 0, 11, -11, 7, -7));
  EXPECT_THAT((*values)[1].values<std::int32_t>(), testing::ElementsAre(2, 2));  // row 7 is the third of the second part
}

TEST(Optimizers, AnIndependentLossIsAMistake) {
  Builder b;
  variable(b, "w", zeros({2}));
  GradientDescent(0.1).minimize(sum(b.constant(std::vector<float>{1, 2})));
  EXPECT_TRUE(absl::IsInvalidArgument(b.status()));
  EXPECT_THAT(text_of(b.status()), testing::HasSubstr("No gradients provided for any variable"));
}

TEST(Optimizers, ClippingKeepsTheDirection) {
  Builder b;
  const Out x = b.constant(std::vector<float>{3, 4}), y = b.constant(std::vector<float>{0, 0});
  const auto clipped = clip_by_global_norm(b, {x, y, {}}, 2.5);
  EXPECT_TRUE(clipped[2].none());
  auto evaluator = evaluator_of(b);
  ASSERT_TRUE(evaluator);
  auto values = evaluator->run({}, {clipped[0].dense().name()});
  ASSERT_TRUE(values.ok()) << values.status();
  EXPECT_THAT((*values)[0].values<float>(), testing::ElementsAre(testing::FloatNear(1.5f, 1e-6f), testing::FloatNear(2.0f, 1e-6f)));
}

}  // namespace
}  // namespace troupe::build
