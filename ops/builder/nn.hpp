// Layers and losses of neural networks for graphs that are built. Names at the end are optional.
#pragma once

#include <troupe/ops/builder/array.hpp>
#include <troupe/ops/builder/variable.hpp>

namespace troupe::build {

inline Out relu(const Out& x, const Name& n = {}) { return unary("Relu", x, n); }
inline Out relu6(const Out& x, const Name& n = {}) { return unary("Relu6", x, n); }
inline Out elu(const Out& x, const Name& n = {}) { return unary("Elu", x, n); }
inline Out selu(const Out& x, const Name& n = {}) { return unary("Selu", x, n); }
inline Out softplus(const Out& x, const Name& n = {}) { return unary("Softplus", x, n); }
inline Out softsign(const Out& x, const Name& n = {}) { return unary("Softsign", x, n); }
inline Out sigmoid(const Out& x, const Name& n = {}) { return unary("Sigmoid", x, n); }
inline Out softmax(const Out& x, const Name& n = {}) { return unary("Softmax", x, n); }
inline Out log_softmax(const Out& x, const Name& n = {}) { return unary("LogSoftmax", x, n); }
inline Out l2_loss(const Out& x, const Name& n = {}) { return unary("L2Loss", x, n); }
Out leaky_relu(const Out& x, double alpha = 0.2, const Name& name = {});

/// How a window moves over an image: its step in height and width, and whether the image is padded so that nothing is lost.
struct Window {
  std::int64_t height = 1, width = 1;
  const char* padding = "SAME";
  const char* data_format = "NHWC";
};
/// The filter is [height, width, channels in, channels out].
Out conv2d(const Out& x, const Out& filter, const Window& strides = {}, const Name& name = {});
Out depthwise_conv2d(const Out& x, const Out& filter, const Window& strides = {}, const Name& name = {});
/// Windows of the given size, moved by their own size where no strides are said.
Out max_pool(const Out& x, std::int64_t height, std::int64_t width, Window strides = {0, 0}, const Name& name = {});
Out avg_pool(const Out& x, std::int64_t height, std::int64_t width, Window strides = {0, 0}, const Name& name = {});
Out bias_add(const Out& x, const Out& bias, const Name& name = {});

struct BatchNorm {
  Out y, mean, variance;  // of the batch while training
};
/// While training `mean` and `variance` are those to fold the batch's into, and may be empty.
BatchNorm batch_norm(const Out& x, const Out& scale, const Out& offset, const Out& mean, const Out& variance, bool training, double epsilon = 1e-3,
                     const Name& name = {});
/// Sets a share of elements to zero and scales up the others.
Out dropout(const Out& x, double rate, std::int64_t seed = 0, std::int64_t seed2 = 0, const Name& name = {});

/// One loss per row; labels are distributions over the classes.
Out softmax_cross_entropy(const Out& labels, const Out& logits, const Name& name = {});
/// One loss per row; labels are the numbers of classes.
Out sparse_softmax_cross_entropy(const Out& labels, const Out& logits, const Name& name = {});
/// One loss per element, for classes that do not exclude each other.
Out sigmoid_cross_entropy(const Out& labels, const Out& logits, const Name& name = {});
/// Whether the label is among the k largest of its row.
Out in_top_k(const Out& predictions, const Out& labels, int k, const Name& name = {});

/// Rows of a table by number. Of a table in several parts, row i is in part i mod parts.
Out embedding_lookup(const Variable& table, const Out& ids, const Name& name = {});
Out embedding_lookup(const std::vector<Variable>& parts, const Out& ids, const Name& name = {});

}  // namespace troupe::build
