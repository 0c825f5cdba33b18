// What operators ask a coordinator, and what it answers, as JSON (docs/jobs.md): for those who ask,
// whatever way the question goes. What the coordinator makes of it:
// coordinator/operators/control_question.h.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "core/base/status.h"
#include "core/net/access/allow_list.h"

namespace tributary {

enum class JobChange { pause, resume, stop };

std::string list_question();
// `folder` is where the job's own file lies, on the coordinator's machine; empty: it lies
// elsewhere.
std::string submit_question(std::string_view toml, std::string_view folder);
// `job` is a name or a number.
std::string change_question(JobChange change, std::string_view job, std::string_view reason);
std::string allow_question(const AllowedAgent& agent);
std::string revoke_question(std::string_view agent_id);

// The answer without its envelope: its data, or the error as if it were ours.
Result<nlohmann::ordered_json> read_operator_answer(std::string_view text);

}  // namespace tributary
