// Quantised layers joined with what follows them: without oneDNN's graph pass TensorFlow has them by name only, and their nodes give nothing.
#include <troupe/ops/kernel.hpp>

namespace troupe {

void add_quantized_names(Registry& ops) {
  const auto nothing = [](Call& call) -> Status { return internal("Missing 0-th output from {{{{node {}}}}}", call.node().name); };
  ops.add({"QuantizedConv2DAndRelu",
           "QuantizedConv2DAndReluAndRequantize",
           "QuantizedConv2DAndRequantize",
           "QuantizedConv2DPerChannel",
           "QuantizedConv2DWithBias",
           "QuantizedConv2DWithBiasAndRelu",
           "QuantizedConv2DWithBiasAndReluAndRequantize",
           "QuantizedConv2DWithBiasAndRequantize",
           "QuantizedConv2DWithBiasSignedSumAndReluAndRequantize",
           "QuantizedConv2DWithBiasSumAndRelu",
           "QuantizedConv2DWithBiasSumAndReluAndRequantize",
           "QuantizedDepthwiseConv2D",
           "QuantizedDepthwiseConv2DWithBias",
           "QuantizedDepthwiseConv2DWithBiasAndRelu",
           "QuantizedDepthwiseConv2DWithBiasAndReluAndRequantize",
           "QuantizedMatMulWithBias",
           "QuantizedMatMulWithBiasAndDequantize",
           "QuantizedMatMulWithBiasAndRelu",
           "QuantizedMatMulWithBiasAndReluAndRequantize",
           "QuantizedMatMulWithBiasAndRequantize",
           "QuantizedConcatV2"},
          nothing);
}

}  // namespace troupe
