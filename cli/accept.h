// What options take: each function makes an Option's `accept` that checks a value and keeps it.
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

// A whole number, which may end in k, M, G (powers of 1000) or Ki, Mi, Gi (powers of 1024).
Result<std::uint64_t> parse_count(std::string_view text, std::uint64_t min, std::uint64_t max);

template <std::unsigned_integral T>
Accept accept_count(T& target, T min, T max = std::numeric_limits<T>::max()) {
  return [&target, min, max](const std::string& value) -> Status {
    TRIBUTARY_ASSIGN(const std::uint64_t count, parse_count(value, min, max));
    target = static_cast<T>(count);
    return {};
  };
}

// A finite number.
Accept accept_real(double& target, double low, double high);
Accept accept_flag(bool& target, bool value = true);

Accept accept_text(std::string& target);
// A file's name; "-" is not one.
Accept accept_file(std::string& target);
Accept accept_files(std::vector<std::string>& target);

// `choices` must outlive the option; the target becomes the choice's index.
Accept accept_choice(std::size_t& target, std::span<const std::string_view> choices);

Accept accept_codec(std::unique_ptr<Codec>& target);
Accept accept_codecs(std::vector<std::unique_ptr<Codec>>& target);

}  // namespace tributary
