// Texts in URLs.
#pragma once

#include <string>
#include <string_view>

namespace starling::net {

// Text as the value of a URL parameter, or as one part of a path: every byte but ASCII letters, digits and -_.~ as %XX
// (RFC 3986, section 2).
std::string url_encode(std::string_view text);

}  // namespace starling::net
