// Takes an exchange over a transport among peers to its end, for those who have nothing else to do
// meanwhile: benchmarks, tests and programs started by mpirun. The agent's state machine drives its
// own.
#pragma once

#include <chrono>
#include <deque>
#include <functional>

#include "core/base/clock.h"
#include "core/collective/exchange.h"
#include "core/collective/piece_frame.h"
#include "core/net/transport.h"

namespace tributary {

struct ExchangeRun {
  ExchangeId id;
  std::chrono::nanoseconds deadline{0};  // a time of the clock
  // Of a bucket that has become whole, while others are under way; may be empty.
  std::function<Status(std::uint32_t bucket)> whole = nullptr;
};

class ExchangeRunner {
 public:
  // What comes from members that are an exchange ahead waits here.
  static constexpr std::size_t kEarlyBytesMax = 1u << 30;

  // The mesh has fixed members. Both outlive it.
  ExchangeRunner(Transport& mesh, const Clock& clock) : mesh_(mesh), clock_(clock) {}

  // Begins all buckets. Before the deadline either all of them are whole and all that this member
  // owes others is handed to the operating system, or there is an error that says who did what, and
  // nothing of the exchange may be applied.
  Status run(PeerExchange& exchange, const ExchangeRun& run);

 private:
  class Play;

  Transport& mesh_;
  const Clock& clock_;
  std::deque<Received> early_;
  std::size_t early_bytes_ = 0;
};

}  // namespace tributary
