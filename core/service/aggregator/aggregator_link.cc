#include "core/service/aggregator/aggregator_link.h"

#include <utility>

namespace tributary {

Result<std::unique_ptr<AggregatorLink>> AggregatorLink::make(const AggregatorLinkOptions& options,
                                                             const Clock& clock, Post post) {
  TRIBUTARY_ASSIGN(Waker waker, Waker::open());
  return std::unique_ptr<AggregatorLink>(
      new AggregatorLink(options, clock, std::move(post), std::move(waker)));
}

AggregatorLink::AggregatorLink(const AggregatorLinkOptions& options, const Clock& clock, Post post,
                               Waker waker)
    : options_(options),
      clock_(clock),
      post_(std::move(post)),
      waker_(std::move(waker)),
      commands_(options.waiting_bytes_max, waker_),
      thread_([this] { run(); }) {}

// Ends the thread before any other member is destroyed, because the thread uses all of them.
AggregatorLink::~AggregatorLink() {
  commands_.end();
  thread_.join();
}

void AggregatorLink::run() {
  AggregatorCounters counters;
  const AggregatorSessionParts parts{.commands = commands_,
                                     .waker = waker_,
                                     .telemetry = telemetry_,
                                     .counters = counters,
                                     .clock = clock_,
                                     .post = post_};
  std::uint64_t seen = 0;
  while (const std::optional<AggregatorCommands::NextEpoch> next = commands_.next_epoch(seen)) {
    seen = next->number;
    AggregatorSession(parts, options_.session, next->epoch).run(seen);
  }
}

}  // namespace tributary
