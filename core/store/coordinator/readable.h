// What a frame says, in columns that people can read. A frame that cannot be read is kept all the
// same, and its columns stay empty.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/round/common/machine/records.h"

namespace tributary {

std::optional<std::string> readable_job_name(const SharedBytes& definition);

struct ReadablePlan {
  std::optional<std::string> trigger;
  std::optional<std::string> sentence;
  std::optional<std::string> codecs;       // each once, with commas between
  std::optional<std::string> collectives;  // the same
  std::optional<std::uint32_t> quorum;
  std::optional<std::uint32_t> deadline_ms;
};
ReadablePlan readable_plan(const SharedBytes& frame);

// At most kTelemetryTextBytesMax bytes of it, and no part of a character.
std::string_view short_text(std::string_view text);

}  // namespace tributary
