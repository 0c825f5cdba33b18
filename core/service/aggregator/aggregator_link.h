// An agent's link to an aggregator in the network, for the lifetime of the process: a session of
// the current epoch (core/service/aggregator) on a thread of its own. Whole buckets go in; their
// sums or an error are posted.
//
// Thread rule: the machine's thread calls sum() and stop(); any thread may call counters() and
// take_fault(). `post` is called on this class's thread and must not block. An answer that was
// under way at stop() may still be posted.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <thread>
#include <utility>

#include "core/base/clock.h"
#include "core/base/status.h"
#include "core/net/waker.h"
#include "core/service/aggregator/aggregator_commands.h"
#include "core/service/aggregator/aggregator_session.h"
#include "core/service/aggregator/aggregator_telemetry.h"

namespace tributary {

struct AggregatorLinkOptions {
  AggregatorSessionOptions session = {};
  // Bound on the levels that wait behind the bucket that is summed. A bucket beyond it ends with an
  // error.
  std::size_t waiting_bytes_max = std::size_t{1} << 30;
};

class AggregatorLink {
 public:
  using Post = std::function<void(NetworkSummed)>;

  // Returns an error if the system has no descriptor for the thread's waker. `clock` must outlive
  // the link.
  static Result<std::unique_ptr<AggregatorLink>> make(const AggregatorLinkOptions& options,
                                                      const Clock& clock, Post post);
  // Buckets without an answer get none.
  ~AggregatorLink();
  AggregatorLink(const AggregatorLink&) = delete;
  AggregatorLink& operator=(const AggregatorLink&) = delete;

  // A bucket of another epoch than the one before ends that epoch; its buckets without an answer
  // get none.
  void sum(SumInNetwork bucket) { commands_.sum(std::move(bucket)); }
  void stop(const StopSums& attempt) { commands_.stop(attempt.id); }

  AggregatorCounters counters() const { return telemetry_.counters(); }
  // The first packet since the last call that did not fit the job.
  std::optional<Status> take_fault() { return telemetry_.take_fault(); }

 private:
  AggregatorLink(const AggregatorLinkOptions& options, const Clock& clock, Post post, Waker waker);
  void run();

  const AggregatorLinkOptions options_;
  const Clock& clock_;
  const Post post_;
  const Waker waker_;
  AggregatorCommands commands_;
  AggregatorTelemetry telemetry_;
  std::thread thread_;
};

}  // namespace tributary
