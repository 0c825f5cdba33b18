// Where a run is read that somebody opens, and what it goes by: a file, or a coordinator across the
// network. To those who show it both are alike.
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
  QString longer_name = {};  // where another run has the same name
  QString place = {};        // in full: a path, or an endpoint
  QString key = {};          // what its colour goes by, in every picture
  bool across_network = false;
  // The clock must outlive what is made.
  std::function<std::unique_ptr<RunSource>(const Clock& clock)> make = {};
};

inline constexpr std::chrono::milliseconds kRunRetryAfter{1000};

RunOrigin origin_of_file(const std::string& path,
                         std::chrono::milliseconds retry_after = kRunRetryAfter);
// `join` has the keys, and the endpoint in its `coordinator`.
RunOrigin origin_of_coordinator(const JoinFile& join,
                                std::chrono::milliseconds retry_after = kRunRetryAfter);

// By a join file: who watches, and whose key the coordinator must have. `endpoint` takes the place
// of the one that is in it, unless it is empty. Errors say what to do about them.
Result<RunOrigin> origin_of_join_file(const std::string& path, const std::string& endpoint);

}  // namespace tributary::dashboard
