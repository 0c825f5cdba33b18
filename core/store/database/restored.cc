#include "core/store/database/restored.h"

#include <fmt/format.h>

#include <utility>

namespace tributary {

Status damaged_journal(const std::string& path, std::string what, std::string expected,
                       std::string got) {
  return Status(StatusCode::corrupt_data,
                {.what = fmt::format("journal '{}', {}", path, what),
                 .expected = std::move(expected),
                 .got = std::move(got),
                 .remedy = "move the file away, and restore a copy or start with a new file"});
}

Status check_restored(wire::JobState state, const std::string& path) {
  if (state <= wire::JobState::MAX) return {};
  return damaged_journal(path, "state of a job", "a known state",
                         fmt::format("{}", static_cast<unsigned>(state)));
}

}  // namespace tributary
