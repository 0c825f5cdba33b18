// The coordinator's side: one port, many peers.
#pragma once

#include <memory>
#include <string>

#include "core/net/transport.h"
#include "core/net/zmq/link_options.h"

namespace tributary {

class Hub : public Transport {
 public:
  // What was bound, with the port that was picked.
  virtual std::string endpoint() const = 0;
};

Result<std::unique_ptr<Hub>> open_hub(const HubOptions& options);

}  // namespace tributary
