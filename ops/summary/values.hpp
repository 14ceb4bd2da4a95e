// Tensors as values of a summary: scalars, histograms, images, sounds and whole tensors.
#pragma once

#include <troupe/wire/summary.pb.h>
#include <troupe/messaging/tensor.hpp>

#include <string>

namespace troupe {

/// The real part of each element as a double; UNIMPLEMENTED for types that are no numbers.
StatusOr<std::vector<double>> as_doubles(const Tensor& tensor);

Status add_scalar(const Tensor& tensor, const std::string& tag, wire::Summary* summary);
/// Refuses what is not finite: "Nan in summary histogram for: w", "Infinity in {infinity} for: w" where w is `where`.
Status add_histogram(const Tensor& tensor, const std::string& tag, const char* infinity, const std::string& where, wire::Summary* summary);
Status add_images(const Tensor& images, const std::string& tag, std::int32_t most, const Tensor& bad_color, wire::Summary* summary);
Status add_audio(const Tensor& audio, const std::string& tag, std::int64_t most, float rate, wire::Summary* summary);
/// Strings one by one, so that readers in Python understand them; numbers as raw content.
void set_tensor(const Tensor& tensor, wire::TensorProto* proto);

}  // namespace troupe
