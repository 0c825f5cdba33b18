// Functions that check option values. Each one returns an Option's `accept`, which parses a value
// and stores it in the target.
//
// The target must outlive the Option. A rejected value leaves it unchanged and returns
// invalid_argument; the error states the value and the accepted range.
#pragma once

#include <concepts>
#include <functional>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/status.h"
#include "core/codec/codec.h"

namespace tributary {

using Accept = std::function<Status(const std::string& value)>;

// Parses a whole number from `min` to `max`. It may end in k, M, G (powers of 1000) or Ki, Mi, Gi
// (powers of 1024).
Result<std::uint64_t> parse_count(std::string_view text, std::uint64_t min, std::uint64_t max);

template <std::unsigned_integral T>
Accept accept_count(T& target, T min, T max = std::numeric_limits<T>::max()) {
  return [&target, min, max](const std::string& value) -> Status {
    TRIBUTARY_ASSIGN(const std::uint64_t count, parse_count(value, min, max));
    target = static_cast<T>(count);
    return {};
  };
}

// Accepts a finite number from `low` to `high`.
Accept accept_real(double& target, double low, double high);
// Accepts a flag, which has no value, and stores `value`.
Accept accept_flag(bool& target, bool value = true);

Accept accept_text(std::string& target);
// Accepts a file name. "-" is rejected, because commands do not use standard input and output.
Accept accept_file(std::string& target);
// Appends one file name per occurrence.
Accept accept_files(std::vector<std::string>& target);

// Accepts one of `choices`, which must outlive the option. The target becomes the index of the
// choice.
Accept accept_choice(std::size_t& target, std::span<const std::string_view> choices);

// Accept a codec specification and store the codec; accept_codecs() appends one per occurrence.
Accept accept_codec(std::unique_ptr<Codec>& target);
Accept accept_codecs(std::vector<std::unique_ptr<Codec>>& target);

}  // namespace tributary
