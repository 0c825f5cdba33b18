#include "dashboard/session/run_session_reader.h"

#include <utility>

namespace tributary::dashboard {

RunSessionReader::RunSessionReader(const RunSessionOptions& options, std::function<void()> ready)
    : look_every_(options.look_every),
      ready_(std::move(ready)),
      source_(options.origin.make(clock_)),
      thread_([this] { work(); }) {}

// wake() ends a read that waits for the network.
RunSessionReader::~RunSessionReader() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  source_->wake();
  wake_.notify_all();
  thread_.join();
}

// Taking a portion lets the thread read the next one.
std::optional<RunPortion> RunSessionReader::take() {
  std::optional<RunPortion> taken;
  {
    const std::lock_guard lock(mutex_);
    taken.swap(portion_);
  }
  wake_.notify_all();
  return taken;
}

// A newer question replaces an older one that has not been read yet.
void RunSessionReader::ask_round(std::uint64_t job, std::uint64_t round) {
  {
    const std::lock_guard lock(mutex_);
    question_ = {.job = job, .round = round};
  }
  wake_.notify_all();
}

void RunSessionReader::work() {
  std::unique_lock lock(mutex_);
  while (!ending_) {
    // Waits until the last portion has been taken, which bounds the memory.
    if (portion_) {
      wake_.wait(lock, [this] { return ending_ || !portion_; });
      continue;
    }
    lock.unlock();
    RunPortion portion = read();
    const bool nothing_now = portion.at_end || !portion.trouble.ok();
    hand_over(std::move(portion));
    lock.lock();
    if (nothing_now) {
      wake_.wait_for(lock, look_every_, [this] { return ending_ || question_.has_value(); });
    }
  }
}

// Called without the lock, because it may wait for a disk or a network.
RunPortion RunSessionReader::read() {
  RunPortion portion;
  const Result<bool> more = source_->step(portion.changes);
  portion.trouble = more.status();
  portion.at_end = more.ok() && source_->at_end();
  std::optional<RoundQuestion> question;
  {
    const std::lock_guard lock(mutex_);
    // Taken in the same step as the changes, so that the round's row is known when its details
    // arrive.
    question.swap(question_);
  }
  if (!question) return portion;
  Result<RoundDetail> detail = source_->round_detail(question->job, question->round);
  RoundAnswer& answer = portion.answer.emplace();
  answer.round = question->round;
  if (detail.ok()) {
    answer.detail = std::make_shared<const RoundDetail>(std::move(*detail));
    // Here, because a belief about many agents takes too long for the thread that draws.
    answer.belief = belief_of(*answer.detail);
  } else {
    answer.why_not = detail.status();
  }
  return portion;
}

// A portion without any news is dropped, so that the receiver is not woken in vain.
void RunSessionReader::hand_over(RunPortion&& portion) {
  std::string trouble = portion.trouble.ok() ? std::string() : portion.trouble.text();
  if (portion.changes.empty() && !portion.answer && trouble == reported_trouble_ &&
      portion.at_end == reported_end_) {
    return;
  }
  reported_trouble_ = std::move(trouble);
  reported_end_ = portion.at_end;
  {
    const std::lock_guard lock(mutex_);
    portion_ = std::move(portion);
  }
  ready_();
}

}  // namespace tributary::dashboard
