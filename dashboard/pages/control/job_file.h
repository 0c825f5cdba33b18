// A job's file before it is submitted: read and checked as the coordinator will, so that nothing is
// sent that it would refuse.
#pragma once

#include <QString>
#include <string>

#include "core/base/status.h"

namespace tributary::dashboard {

struct JobFile {
  std::string name = {};  // the job's
  std::string text = {};
  std::string folder = {};  // where it lies, if the coordinator has the same disk; else empty
  QString summary = {};     // what it says, in a line
};

// Errors name the file, and the line or key.
Result<JobFile> read_job_file(const std::string& path, bool across_network);

}  // namespace tributary::dashboard
