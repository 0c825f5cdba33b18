// Parses an operator's command: a JSON object with a verb (docs/jobs.md).
//
// The text comes from a socket and is not trusted: its size is bounded by the socket, and unknown
// verbs and fields of wrong types are refused with invalid_argument. A pure function, except that a
// job's settings may name files, which are not opened here.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/base/status.h"
#include "core/job/job_settings.h"
#include "core/net/access/allow_list.h"
#include "schemas/frame_generated.h"

namespace tributary {

enum class ControlVerb { list, submit, change, allow, revoke };

// One command. Only the fields of its verb are set.
struct ControlQuestion {
  ControlVerb verb = ControlVerb::list;
  std::string job = {};  // name or number; for `submit` the name
  std::optional<JobSettings> settings = {};
  wire::JobState state = wire::JobState::running;  // new state, for `change`
  std::string reason = {};
  AllowedAgent agent = {};  // agent for `allow`; for `revoke` only its id
};

// Returns the error of the first invalid field. A job's model file is resolved relative to the job
// file's folder.
Result<ControlQuestion> read_control_question(std::string_view text);

}  // namespace tributary
