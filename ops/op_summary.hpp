// Op definitions and attributes in the words of TensorFlow's messages.
#pragma once

#include <troupe/wire/attr_value.pb.h>
#include <troupe/wire/op_def.pb.h>

#include <string>

namespace troupe {

/// "Op<name=Abs; signature=x:T -> y:T; attr=T:type,allowed=[DT_FLOAT, …]>".
std::string summary_of(const wire::OpDef& op);
/// `5`, `"NHWC"`, `DT_FLOAT`, `[1, 2]`, `[2,?]`, …
std::string summary_of(const wire::AttrValue& value);

}  // namespace troupe
