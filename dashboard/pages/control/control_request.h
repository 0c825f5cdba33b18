// Something that an operator wants of a coordinator, before it is asked.
#pragma once

#include <QString>
#include <string>

namespace tributary::dashboard {

struct ControlRequest {
  QString what = {};          // as the answer is told under it: "pause digits"
  std::string question = {};  // core/service/operator_talk.h
  // Where something is lost for good: what, and the word on the button that does it.
  QString warning = {};
  QString verb = {};
};

}  // namespace tributary::dashboard
