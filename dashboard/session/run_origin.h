// Describes where a run is read from: a file, or a coordinator across the network. Both kinds are
// opened and shown the same.
//
// Creating an origin opens nothing; the source that make() returns does. Origins are values; any
// thread may copy them.
#pragma once

#include <QString>
#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "core/base/clock.h"
#include "core/base/status.h"
#include "core/net/access/join_file.h"
#include "core/run/run_source.h"

namespace tributary::dashboard {

struct RunOrigin {
  QString name = {};         // for legends and titles
  QString longer_name = {};  // if another run has the same name
  QString place = {};        // complete path or endpoint
  QString key = {};          // identifies the run; its colour depends on it
  bool across_network = false;
  // Creates the source. The clock must outlive it.
  std::function<std::unique_ptr<RunSource>(const Clock& clock)> make = {};
};

inline constexpr std::chrono::milliseconds kRunRetryAfter{1000};  // of a run that cannot be read

RunOrigin origin_of_file(const std::string& path,
                         std::chrono::milliseconds retry_after = kRunRetryAfter);
// `join` contains the keys and, as `coordinator`, the endpoint.
RunOrigin origin_of_coordinator(const JoinFile& join,
                                std::chrono::milliseconds retry_after = kRunRetryAfter);

// Reads a join file, which contains the observer's keys and the coordinator's key. `endpoint`
// replaces the one in the file, unless it is empty. Fails if the file or the endpoint is not valid;
// the error states a remedy.
Result<RunOrigin> origin_of_join_file(const std::string& path, const std::string& endpoint);

}  // namespace tributary::dashboard
