// The threads that a process's links share: libzmq's, which read, write and encrypt, and one that
// answers who may come in. Hubs and spokes make one for themselves unless they are handed one; a
// thousand spokes in one process should share.
#pragma once

#include <cstdint>
#include <memory>
#include <thread>

#include "core/base/clock.h"
#include "core/base/status.h"
#include "core/net/access/gate.h"

namespace tributary {

class LinkContext {
 public:
  struct Options {
    std::uint32_t io_threads = 1;      // CURVE costs one of them about a second per GB
    std::uint32_t sockets_max = 4096;  // a spoke takes three
    const Clock* clock = nullptr;      // null: the system's; must outlive the context
  };

  static Result<std::shared_ptr<LinkContext>> open(const Options& options);

  // Everything that uses it must be gone. Waits until what was sent has left, as long as the links'
  // options let it.
  ~LinkContext();
  LinkContext(const LinkContext&) = delete;
  LinkContext& operator=(const LinkContext&) = delete;

  void* handle() const { return context_; }  // libzmq's
  const Clock& clock() const { return clock_; }
  Gate& gate() { return gate_; }

 private:
  explicit LinkContext(const Clock& clock) : clock_(clock), gate_(clock) {}
  Status start(const Options& options);
  void answer_knocks(void* socket);  // owns it

  void* context_ = nullptr;
  const Clock& clock_;
  Gate gate_;
  std::thread doorkeeper_;
};

}  // namespace tributary
