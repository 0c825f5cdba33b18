#include "core/service/daemon_outlets.h"

#include <utility>

namespace tributary {

Result<std::unique_ptr<DaemonOutlets>> DaemonOutlets::open(const CommonSettings& settings,
                                                           std::string_view component,
                                                           std::function<void(const Note&)> keep) {
  std::unique_ptr<DaemonOutlets> outlets(new DaemonOutlets);
  TRIBUTARY_ASSIGN(const LogOptions log_options, settings.log_options());
  outlets->log_ = make_stream_log(log_options);
  TRIBUTARY_ASSIGN(outlets->metrics_, open_metrics(settings.metrics_listen));
  if (!outlets->metrics_->endpoint().empty()) {
    outlets->log_->info(component, "metrics", {{"endpoint", outlets->metrics_->endpoint()}});
  }
  outlets->notes_ = std::make_unique<NoteLog>(*outlets->log_, outlets->clock_, *outlets->metrics_,
                                              std::move(keep));
  return outlets;
}

}  // namespace tributary
