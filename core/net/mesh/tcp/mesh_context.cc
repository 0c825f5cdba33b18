#include "core/net/mesh/tcp/mesh_context.h"

#include <utility>

namespace tributary {

void bury(const MeshContext& context, std::unique_ptr<MeshConnection> connection) {
  connection->add_wire_bytes(context.counters);
  connection->channel.reset();
  connection->file = File();
  context.poll.bury(std::move(connection));
}

Status mesh_step_late(std::string what, const Status& why) {
  return Status(StatusCode::deadline_exceeded,
                {.what = std::move(what),
                 .expected = "an answer in time",
                 .got = why.ok() ? "none" : why.text(),
                 .remedy = "check that the two devices can reach each other"});
}

}  // namespace tributary
