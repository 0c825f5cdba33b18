// The texts of operators' questions to a coordinator and of its answers, as JSON (docs/jobs.md),
// for the side that asks. They do not depend on the transport. The coordinator's side is in
// coordinator/operators/control_question.h.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "core/base/status.h"
#include "core/net/access/allow_list.h"

namespace tributary {

// A change of a job's state by an operator.
enum class JobChange { pause, resume, stop };

// The questions of operators, as texts.
std::string list_question();
// `folder` is the folder of the job's file on the coordinator's machine; empty if the file is on
// another machine.
std::string submit_question(std::string_view toml, std::string_view folder);
// `job` is a name or a number.
std::string change_question(JobChange change, std::string_view job, std::string_view reason);
std::string allow_question(const AllowedAgent& agent);
std::string revoke_question(std::string_view agent_id);

// Returns the data of an answer. If the answer is an error, returns it as a Status. Returns
// corrupt_data if the text is not an answer.
Result<nlohmann::ordered_json> read_operator_answer(std::string_view text);

}  // namespace tributary
