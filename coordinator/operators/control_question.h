// What an operator's command asks a coordinator, as it comes over the control socket: a JSON object
// with a verb (docs/jobs.md).
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

struct ControlQuestion {
  ControlVerb verb = ControlVerb::list;
  std::string job = {};  // name or number; of one to be submitted its name
  std::optional<JobSettings> settings = {};
  wire::JobState state = wire::JobState::running;  // that it is to change to
  std::string reason = {};
  AllowedAgent agent = {};  // that is to be allowed; of one to be revoked its id
};

Result<ControlQuestion> read_control_question(std::string_view text);

}  // namespace tributary
