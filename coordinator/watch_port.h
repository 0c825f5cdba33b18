// Opens the port for observers as the settings describe it. Observers prove themselves against the
// file `watchers`, and verify the coordinator by the key that agents know. The daemon calls the
// first function once, when it starts, and the second one whenever it collects metrics.
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

// Returns null if the settings name no such port, and an error if it cannot be opened.
// `ask_operator` may be called on a server thread and may block. It, `clock` and `log` must outlive
// the server.
Result<std::unique_ptr<WatchServer>> open_watch_port(
    const CoordinatorSettings& settings, AllowFile& watchers,
    std::function<std::string(std::string_view)> ask_operator, const Clock& clock, Log& log);

// Adds the counters of the server to the metrics.
void export_watch_metrics(const WatchServer& server, Metrics& metrics);

}  // namespace tributary
