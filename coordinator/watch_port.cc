#include "coordinator/watch_port.h"

#include <utility>

#include "core/service/settings/common_settings.h"

namespace tributary {

Result<std::unique_ptr<WatchServer>> open_watch_port(
    const CoordinatorSettings& settings, AllowFile& watchers,
    std::function<std::string(std::string_view)> ask_operator, const Clock& clock, Log& log) {
  if (settings.watch_endpoint.empty()) return std::unique_ptr<WatchServer>();
  TRIBUTARY_TRY(watchers.read());
  // Observers verify the coordinator by the same key as agents.
  TRIBUTARY_ASSIGN(KeyPair keys, keys_for(settings.key_file, settings.encrypted));
  TRIBUTARY_ASSIGN(std::unique_ptr<WatchServer> server,
                   WatchServer::open({.endpoint = settings.watch_endpoint,
                                      .keys = std::move(keys),
                                      .watchers = settings.encrypted ? watchers.list() : nullptr,
                                      .encrypted = settings.encrypted,
                                      .operators = settings.watch_operators,
                                      .journal = settings.journal.file,
                                      .ask_operator = std::move(ask_operator)},
                                     clock, log));
  log.info("coordinator", "observers can connect", {{"endpoint", server->endpoint()}});
  return server;
}

void export_watch_metrics(const WatchServer& server, Metrics& metrics) {
  const WatchServer::Counts counts = server.counts();
  metrics.set("tributary_watchers", static_cast<double>(counts.sessions));
  metrics.set("tributary_watch_questions_total", static_cast<double>(counts.questions));
  metrics.set("tributary_watch_questions_refused_total", static_cast<double>(counts.refused));
  metrics.set("tributary_watch_turned_away_total", static_cast<double>(counts.turned_away));
  metrics.set("tributary_watch_out_bytes_total", static_cast<double>(counts.bytes_out));
}

}  // namespace tributary
