// Files that are read: graphs in both forms, checkpoints, models, and what is none of them.
#include <google/protobuf/text_format.h>
#include <troupe/ops/builder/loading.hpp>
#include <troupe/ops/builder/nn.hpp>
#include <troupe/ops/builder/saver.hpp>
#include <troupe/ops/checkpoint/bundle.hpp>
#include <troupe/ops/files/local_files.hpp>

#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace troupe::build {
namespace {

using testing::HasSubstr;

class Loading : public testing::Test {
 protected:
  void SetUp() override {
    folder_ =
        (std::filesystem::path(testing::TempDir()) / (std::string("loading_test_") + testing::UnitTest::GetInstance()->current_test_info()->name()))
            .string();
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::string path(const std::string& name) const { return folder_ + "/" + name; }
  std::string folder_;
};

wire::MetaGraphDef small_model() {
  Builder b;
  const Out x = b.placeholder(DType::f32, dims({-1, 3}), "x");
  const Out y = matmul(x, variable(b, "w", ones({3, 2})), {}, "y");
  const Saver s = saver(b);
  auto meta = meta_graph(b, s, {{"serving_default", signature({{"in", x}}, {{"out", y}})}});
  EXPECT_TRUE(meta.ok()) << meta.status();
  return meta.value_or(wire::MetaGraphDef());
}

TEST_F(Loading, GraphsAreReadInBothForms) {
  const auto meta = small_model();
  std::string text;
  google::protobuf::TextFormat::PrintToString(meta.graph_def(), &text);
  ASSERT_TRUE(write_file(path("binary"), meta.graph_def().SerializeAsString()).ok());
  ASSERT_TRUE(write_file(path("text"), text + "\nfrom_the_future: 3\n").ok());
  for (const char* name : {"binary", "text"}) {
    auto graph = load_graph_def(path(name));
    ASSERT_TRUE(graph.ok()) << graph.status();
    EXPECT_EQ(graph->node_size(), meta.graph_def().node_size());
    Builder b;
    EXPECT_TRUE(b.add_graph(*graph).ok());
    EXPECT_EQ(b.find_output("y:0")->shape(), dims({-1, 2}));
  }
  ASSERT_TRUE(write_file(path("meta"), meta.SerializeAsString()).ok());
  auto read = load_meta_graph(path("meta"));
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(read->saver_def().restore_op_name(), "save/restore_all");
  EXPECT_EQ(read->saver_def().filename_tensor_name(), "save/Const:0");
}

TEST_F(Loading, WhatIsNoGraphIsRefused) {
  EXPECT_TRUE(absl::IsNotFound(load_graph_def(path("nothing")).status()));
  ASSERT_TRUE(write_file(path("broken"), "node { name: \"x\" op: }").ok());
  const auto broken = load_graph_def(path("broken"));
  EXPECT_TRUE(absl::IsDataLoss(broken.status())) << broken.status();
  EXPECT_THAT(text_of(broken.status()), testing::AllOf(HasSubstr("broken is not a GraphDef"), HasSubstr("line 1")));
  ASSERT_TRUE(write_file(path("noise"), std::string("\x0a\xff\xff\xff\xff\x01zzz", 9)).ok());
  EXPECT_TRUE(absl::IsDataLoss(load_graph_def(path("noise")).status()));
}

TEST_F(Loading, AModelIsFoundByItsTags) {
  EXPECT_TRUE(absl::IsNotFound(SavedModel::load(folder_).status()));
  wire::SavedModel saved;
  saved.set_saved_model_schema_version(1);
  *saved.add_meta_graphs() = small_model();
  ASSERT_TRUE(write_file(path("saved_model.pb"), saved.SerializeAsString()).ok());
  std::filesystem::create_directories(path("variables"));
  auto model = SavedModel::load(folder_);
  ASSERT_TRUE(model.ok()) << model.status();
  EXPECT_FALSE(model->has_variables());
  auto writer = BundleWriter::create(model->variables_prefix());
  ASSERT_TRUE(writer.ok());
  ASSERT_TRUE(writer->add("w", Tensor::of<float>({3, 2}, std::vector<float>{1, 2, 3, 4, 5, 6})).ok());
  ASSERT_TRUE(writer->finish().ok());
  EXPECT_TRUE(model->has_variables());
  auto variables = model->variables();
  ASSERT_TRUE(variables.ok()) << variables.status();
  EXPECT_EQ(variables->at("w").shape(), (Shape{3, 2}));
  EXPECT_EQ(model->signature()->inputs().at("in").name(), "x:0");
  EXPECT_EQ(model->restore_op(), "save/restore_all");
  EXPECT_EQ(model->init_op(), "");
  EXPECT_THAT(text_of(model->signature("other").status()), HasSubstr("no signature 'other'; there are: serving_default"));
  EXPECT_THAT(text_of(SavedModel::load(folder_, {"train"}).status()), HasSubstr("there are: {serve}"));
}

TEST_F(Loading, TheLatestCheckpointIsThatOfTheRecord) {
  EXPECT_TRUE(absl::IsNotFound(latest_checkpoint(folder_).status()));
  ASSERT_TRUE(write_file(path("checkpoint"), "model_checkpoint_path: \"model-7\"\nall_model_checkpoint_paths: \"model-7\"\n").ok());
  EXPECT_EQ(latest_checkpoint(folder_).value_or(""), path("model-7"));
  EXPECT_FALSE(load_checkpoint(path("model-7")).ok());
}

}  // namespace
}  // namespace troupe::build
