// Command lines for ranks that mpirun starts. All ranks receive the same arguments; "%r" in an
// argument marks the place of the rank.
//
// Pure functions: the environment is a parameter.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/status.h"

namespace tributary {

// Replaces every "%r" by the rank.
std::vector<std::string> with_rank(const std::vector<std::string>& words, std::uint32_t rank);

// Whether the words contain --help or --version, which need no rank. The answer may differ from the
// parser's only for a word that is the value of an option.
bool asks_for_answer(const std::vector<std::string>& words);

// Returns the rank that mpirun stores in the environment. It is available before MPI is
// initialized. `variable` returns the value of an environment variable, or null if it is not set.
// Returns an error if no known variable holds a rank.
Result<std::uint32_t> rank_from_mpirun(const std::function<const char*(const char*)>& variable);

}  // namespace tributary
