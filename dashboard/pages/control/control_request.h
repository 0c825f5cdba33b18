// A request of the operator to a coordinator, before it is sent.
//
// A plain value. The page makes it only if the job's state allows the action. Only the
// coordinator's answer tells whether the request was accepted.
#pragma once

#include <QString>
#include <string>

namespace tributary::dashboard {

struct ControlRequest {
  QString what = {};          // label of the answer: "pause digits"
  std::string question = {};  // JSON, built by core/service/operator_messages.h
  // Set for actions that cannot be undone: the question to confirm, and the text of its button.
  QString warning = {};
  QString verb = {};
};

}  // namespace tributary::dashboard
