#include "edge_agent/rank_words.h"

#include <algorithm>
#include <array>
#include <charconv>

namespace tributary {
namespace {

constexpr std::string_view kPlace = "%r";
constexpr const char* kVariable = "OMPI_COMM_WORLD_RANK";

}  // namespace

std::vector<std::string> with_rank(const std::vector<std::string>& words, std::uint32_t rank) {
  const std::string number = std::to_string(rank);
  std::vector<std::string> out = words;
  for (std::string& word : out) {
    for (std::size_t at = word.find(kPlace); at != std::string::npos;
         at = word.find(kPlace, at + number.size())) {
      word.replace(at, kPlace.size(), number);
    }
  }
  return out;
}

bool asks_for_answer(const std::vector<std::string>& words) {
  constexpr std::array<std::string_view, 3> kAnswers = {"-h", "--help", "--version"};
  return std::ranges::find_first_of(words, kAnswers) != words.end();
}

Result<std::uint32_t> rank_from_mpirun(const std::function<const char*(const char*)>& variable) {
  const char* const value = variable(kVariable);
  const std::string_view text = value == nullptr ? "" : value;
  std::uint32_t rank = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), rank);
  if (!text.empty() && error == std::errc() && end == text.data() + text.size()) return rank;
  return Status(
      StatusCode::invalid_argument,
      {.what = std::string("the rank of this process, ") + kVariable,
       .expected = "a number, from Open MPI's mpirun",
       .got = text.empty() ? "nothing" : std::string(text.substr(0, 64)),
       .remedy = "start it like this: mpirun -n 4 tributary-agent-mpi --config agent-%r.toml"});
}

}  // namespace tributary
