// Base64 with the alphabet that is safe in addresses and file names.
#pragma once

#include <troupe/messaging/status.hpp>

#include <string>
#include <string_view>

namespace troupe {

std::string encode_base64(std::string_view bytes, bool pad);
StatusOr<std::string> decode_base64(std::string_view text);

}  // namespace troupe
