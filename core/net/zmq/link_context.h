// The threads that the links of a process share: libzmq's I/O threads, which read, write and
// encrypt, and one thread that answers ZAP requests. Hubs and spokes create a context of their own
// unless they receive one. Many spokes in one process should share a context.
#pragma once

#include <cstdint>
#include <memory>
#include <thread>

#include "core/base/clock.h"
#include "core/base/status.h"
#include "core/net/access/gate.h"

namespace tributary {

// Owns libzmq's context and the gate. Thread-safe after open().
class LinkContext {
 public:
  struct Options {
    std::uint32_t io_threads = 1;      // CURVE costs about 1 s of such a thread per GB
    std::uint32_t sockets_max = 4096;  // a spoke uses three
    const Clock* clock = nullptr;      // null: the system's clock; must outlive the context
  };

  // Returns unsupported if libzmq lacks a feature that the links need.
  static Result<std::shared_ptr<LinkContext>> open(const Options& options);

  // All sockets of the context must be destroyed before. Waits until sent messages have left, but
  // not longer than the links' linger_max.
  ~LinkContext();
  LinkContext(const LinkContext&) = delete;
  LinkContext& operator=(const LinkContext&) = delete;

  void* handle() const { return context_; }  // libzmq's context
  const Clock& clock() const { return clock_; }
  Gate& gate() { return gate_; }

 private:
  explicit LinkContext(const Clock& clock) : clock_(clock), gate_(clock) {}
  Status start(const Options& options);
  void answer_knocks(void* socket);  // takes ownership of `socket`

  void* context_ = nullptr;
  const Clock& clock_;
  Gate gate_;
  std::thread doorkeeper_;
};

}  // namespace tributary
