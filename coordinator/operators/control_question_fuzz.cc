// Fuzz target: any bytes on the control socket give a command or an error.
#include <cstdlib>

#include "coordinator/operators/control_question.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tributary;
  const Result<ControlQuestion> question =
      read_control_question({reinterpret_cast<const char*>(data), size});
  if (!question.ok()) {
    if (question.status().text().empty()) std::abort();
    return 0;
  }
  const bool about_agents =
      question->verb == ControlVerb::allow || question->verb == ControlVerb::revoke;
  if (about_agents != check_agent_id(question->agent.id).ok()) std::abort();
  if ((question->verb == ControlVerb::submit) != question->settings.has_value()) std::abort();
  return 0;
}
