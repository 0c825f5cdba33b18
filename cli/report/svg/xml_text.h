// Text as XML and HTML take it.
#pragma once

#include <string>
#include <string_view>

namespace tributary::report {

// For content and for attributes in double quotes. What XML cannot hold, control characters and
// bytes that are no UTF-8, becomes U+FFFD.
std::string escaped(std::string_view text);

// At most so many characters; what is longer ends in an ellipsis.
std::string shortened(std::string_view text, std::size_t characters_max);

// Characters, not bytes.
std::size_t characters(std::string_view text);

// A place in a picture: two decimals at most, and no "-0".
std::string coordinate(double value);

}  // namespace tributary::report
