// Prepares text for XML and HTML. Pure functions; any bytes are accepted. A result is never longer
// than six times its input.
#pragma once

#include <string>
#include <string_view>

namespace tributary::report {

// Escapes text for content and for attributes in double quotes. Control characters and invalid
// UTF-8 become U+FFFD.
std::string escaped(std::string_view text);

// Returns at most `characters_max` characters; a longer text ends in an ellipsis.
std::string shortened(std::string_view text, std::size_t characters_max);

// Counts characters, not bytes.
std::size_t characters(std::string_view text);

// Formats a coordinate with at most two decimals and without "-0".
std::string coordinate(double value);

}  // namespace tributary::report
