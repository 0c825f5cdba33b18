// The port at which others than agents look on: what the settings say of it, put together.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "coordinator/config.h"
#include "coordinator/operators/allow_file.h"
#include "core/base/clock.h"
#include "core/base/log/log.h"
#include "core/service/metrics/metrics.h"
#include "core/watch/watch_server.h"

namespace tributary {

// Null: the settings name no such port. `ask_operator` may be called on a thread of its own, and
// wait; clock, log and what it asks must outlive what is returned.
Result<std::unique_ptr<WatchServer>> open_watch_port(
    const CoordinatorSettings& settings, AllowFile& watchers,
    std::function<std::string(std::string_view)> ask_operator, const Clock& clock, Log& log);

void export_watch_metrics(const WatchServer& server, Metrics& metrics);

}  // namespace tributary
