// Reads and checks a job's file before it is submitted, with the coordinator's own checks. A file
// that the coordinator would refuse is not sent.
//
// No state; the file is read on the calling thread.
#pragma once

#include <QString>
#include <string>

#include "core/base/status.h"

namespace tributary::dashboard {

struct JobFile {
  std::string name = {};  // name of the job
  std::string text = {};
  // Folder of the file if the coordinator has the same disk, otherwise empty.
  std::string folder = {};
  QString summary = {};  // the content in one line
};

// Fails with invalid_argument, or with the error of reading the file. The error names the file, and
// the line or key. `across_network`: the coordinator runs on another machine.
Result<JobFile> read_job_file(const std::string& path, bool across_network);

}  // namespace tributary::dashboard
