// The port at which others than agents look on: what the settings say of it, put together.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "coordinator/allow_file.h"
#include "coordinator/config.h"
#include "core/base/clock.h"
#include "core/base/log.h"
#include "core/service/metrics.h"
#include "core/telemetry/watch_server.h"

namespace tributary {

// Null: the settings name no such port. `ask_operator` may be called on a thread of its own, and
// wait; clock, log and what it asks must outlive what is returned.
Result<std::unique_ptr<WatchServer>> open_watch_port(
    const CoordinatorSettings& settings, AllowFile& watchers,
    std::function<std::string(std::string_view)> ask_operator, const Clock& clock, Log& log);

void export_watch_metrics(const WatchServer& server, Metrics& metrics);

}  // namespace tributary
