// Ranks that mpirun starts are all given the same words: what is to be each one's own has "%r" in
// it.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/status.h"

namespace tributary {

// "%r" is the rank, wherever it stands.
std::vector<std::string> with_rank(const std::vector<std::string>& words, std::uint32_t rank);

// As mpirun tells it, which is known before MPI is started. `variable` gives a variable of the
// environment, null where there is none.
Result<std::uint32_t> rank_from_mpirun(const std::function<const char*(const char*)>& variable);

}  // namespace tributary
