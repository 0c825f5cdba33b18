#include "dashboard/session/run_origin.h"

#include <QFileInfo>
#include <utility>

#include "core/run/run_follower.h"
#include "core/watch/remote_run.h"

namespace tributary::dashboard {
namespace {

// Enough to distinguish coordinators at one endpoint.
constexpr qsizetype kKeyCharactersShown = 8;

// The canonical path identifies a run even if it is opened by different paths.
QString key_of_file(const QFileInfo& file) {
  const QString canonical = file.canonicalFilePath();  // empty: the file does not exist
  return "run " + (canonical.isEmpty() ? file.absoluteFilePath() : canonical);
}

}  // namespace

RunOrigin origin_of_file(const std::string& path, std::chrono::milliseconds retry_after) {
  const QFileInfo file(QString::fromStdString(path));
  const QString folder = QFileInfo(file.absolutePath()).fileName();
  return {.name = file.fileName(),
          .longer_name = folder.isEmpty() ? file.fileName() : folder + '/' + file.fileName(),
          .place = QString::fromStdString(path),
          .key = key_of_file(file),
          .across_network = false,
          .make = [path, retry_after](const Clock& clock) -> std::unique_ptr<RunSource> {
            return std::make_unique<RunFollower>(
                RunFollowerOptions{.path = path, .retry_after = retry_after}, clock);
          }};
}

RunOrigin origin_of_coordinator(const JoinFile& join, std::chrono::milliseconds retry_after) {
  const QString endpoint = QString::fromStdString(join.coordinator);
  const QString key = QString::fromStdString(key_text(join.coordinator_key));
  const QString name = endpoint.mid(endpoint.indexOf("//") + 2);
  return {.name = name,
          .longer_name = name + " (" + key.left(kKeyCharactersShown) + ")",
          .place = endpoint,
          .key = "coordinator " + endpoint + " " + key,
          .across_network = true,
          .make = [join, retry_after](const Clock& clock) -> std::unique_ptr<RunSource> {
            return std::make_unique<RemoteRun>(RemoteRunOptions{.endpoint = join.coordinator,
                                                                .keys = join.keys,
                                                                .coordinator = join.coordinator_key,
                                                                .retry_after = retry_after},
                                               clock);
          }};
}

Result<RunOrigin> origin_of_join_file(const std::string& path, const std::string& endpoint) {
  if (!endpoint.empty()) {
    Status status = check_dialled_endpoint(endpoint);
    if (!status.ok()) return std::move(status).at(endpoint);
  }
  TRIBUTARY_ASSIGN(JoinFile join, read_join_file(path));
  if (!endpoint.empty()) join.coordinator = endpoint;
  return origin_of_coordinator(join);
}

}  // namespace tributary::dashboard
