// Extracts columns that people can read from a stored frame. A frame that this build cannot read is
// still stored, and its columns stay empty. The functions are pure.
//
// The result is for people and queries only: the coordinator never reads these columns back, so a
// wrong one cannot change a round.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/round/common/machine/records.h"

namespace tributary {

// The name in a job's definition; empty if the definition cannot be read.
std::optional<std::string> readable_job_name(const SharedBytes& definition);

// The columns of a plan; empty ones are NULL in the table.
struct ReadablePlan {
  std::optional<std::string> trigger;
  std::optional<std::string> sentence;
  std::optional<std::string> codecs;       // each once, separated by commas
  std::optional<std::string> collectives;  // each once, separated by commas
  std::optional<std::uint32_t> quorum;
  std::optional<std::uint32_t> deadline_ms;
};
ReadablePlan readable_plan(const SharedBytes& frame);

// The text cut to at most kTelemetryTextBytesMax bytes, without splitting a UTF-8 character.
std::string_view short_text(std::string_view text);

}  // namespace tributary
