// Drives an exchange over a mesh to its end and blocks meanwhile. Benchmarks, tests and programs
// started by mpirun use it; the agent's state machine drives its exchanges itself.
//
// It owns no thread, no socket and no codec. One runner serves one mesh for its whole life, because
// messages of a next exchange may arrive during the current one.
#pragma once

#include <chrono>
#include <deque>
#include <functional>

#include "core/base/clock.h"
#include "core/collective/exchange.h"
#include "core/collective/piece_frame.h"
#include "core/net/transport.h"

namespace tributary {

// Identity and deadline of one run.
struct ExchangeRun {
  ExchangeId id;
  std::chrono::nanoseconds deadline{0};  // a time of `clock`; the end of the exchange's patience
  // Called once for each bucket that becomes whole, while others continue. May be empty. An error
  // ends the exchange.
  std::function<Status(std::uint32_t bucket)> whole = nullptr;
};

// Used by one thread. Keeps messages that arrive too early from one exchange to the next.
class ExchangeRunner {
 public:
  // Bound on the payloads of members that are an exchange ahead, in bytes.
  static constexpr std::size_t kEarlyBytesMax = 1u << 30;

  // The mesh has fixed members. Both outlive it.
  ExchangeRunner(Transport& mesh, const Clock& clock) : mesh_(mesh), clock_(clock) {}

  // Begins all buckets. On success, all buckets are whole before the deadline and all pieces that
  // this member owes others have been passed to the operating system. On an error, which names the
  // member at fault, nothing of the exchange may be applied. Fails with deadline_exceeded,
  // resource_exhausted (early messages), or the error of the mesh or the exchange.
  Status run(PeerExchange& exchange, const ExchangeRun& run);

 private:
  class Play;

  Transport& mesh_;
  const Clock& clock_;
  std::deque<Received> early_;
  std::size_t early_bytes_ = 0;
};

}  // namespace tributary
