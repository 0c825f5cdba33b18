#include "dashboard/session/operator_channel.h"

#include <chrono>
#include <utility>

namespace tributary::dashboard {
namespace {

// An idle source keeps a connection open at the coordinator; it is closed after this time.
constexpr std::chrono::seconds kOperatorIdle{60};

}  // namespace

OperatorChannel::OperatorChannel(MakeSource make, std::function<void()> ready)
    : make_(std::move(make)), ready_(std::move(ready)) {}

OperatorChannel::~OperatorChannel() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
    questions_.clear();
    if (source_) source_->wake();
  }
  wake_.notify_all();
  if (thread_.joinable()) thread_.join();
}

// The thread starts with the first request, because most sessions never send one.
void OperatorChannel::ask(std::uint64_t number, std::string question) {
  bool refused = false;
  {
    const std::lock_guard lock(mutex_);
    refused = questions_.size() >= kQuestionsMax;
    if (refused) {
      answers_.push_back(
          {.number = number,
           .status = {StatusCode::resource_exhausted,
                      {.what = "requests to the coordinator",
                       .expected = "at most " + std::to_string(kQuestionsMax) + " waiting",
                       .got = "one more",
                       .remedy = "wait for the answers"}}});
    } else {
      questions_.push_back({number, std::move(question)});
      if (!thread_.joinable()) thread_ = std::thread([this] { work(); });
    }
  }
  refused ? ready_() : wake_.notify_all();
}

std::vector<OperatorAnswer> OperatorChannel::take() {
  const std::lock_guard lock(mutex_);
  return std::exchange(answers_, {});
}

// One request at a time, in their order.
void OperatorChannel::work() {
  std::unique_lock lock(mutex_);
  while (!ending_) {
    if (questions_.empty()) {
      const bool asked =
          wake_.wait_for(lock, kOperatorIdle, [this] { return ending_ || !questions_.empty(); });
      if (!asked) give_up_source(lock);
      continue;
    }
    const Question question = std::move(questions_.front());
    questions_.pop_front();
    if (!source_) source_ = make_(clock_);
    lock.unlock();
    OperatorAnswer answer = answered(question);
    lock.lock();
    // The connection is idle between requests, so an old one may be broken. It is closed after any
    // error, and the next request creates a new one.
    if (!answer.status.ok()) give_up_source(lock);
    answers_.push_back(std::move(answer));
    lock.unlock();
    ready_();
    lock.lock();
  }
}

// Closing the connection may take a moment, so the lock is released meanwhile.
void OperatorChannel::give_up_source(std::unique_lock<std::mutex>& lock) {
  std::shared_ptr<RunSource> gone = std::move(source_);
  lock.unlock();
  gone.reset();
  lock.lock();
}

OperatorAnswer OperatorChannel::answered(const Question& question) {
  OperatorAnswer answer = {.number = question.number};
  Result<std::string> text = source_->ask_operator(question.text);
  answer.status = text.status();
  if (text.ok()) answer.text = std::move(*text);
  return answer;
}

}  // namespace tributary::dashboard
