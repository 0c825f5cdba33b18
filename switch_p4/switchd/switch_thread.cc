#include "switch_p4/switchd/switch_thread.h"

#include <poll.h>

#include <array>
#include <future>
#include <utility>

namespace tributary::switchd {
namespace {

Status thread_ended() {
  return Status(StatusCode::cancelled, {.what = "the thread that serves packets",
                                        .expected = "a running thread",
                                        .got = "one that has ended"});
}

}  // namespace

Result<std::unique_ptr<SwitchThread>> SwitchThread::open(const SwitchThreadOptions& options) {
  TRIBUTARY_ASSIGN(in_network::SlotRules rules, in_network::SlotRules::make(options.slots));
  TRIBUTARY_ASSIGN(std::unique_ptr<UdpPort> port, UdpPort::open({.listen = options.listen,
                                                                 .segments = options.segments,
                                                                 .batch = options.batch}));
  TRIBUTARY_ASSIGN(Waker waker, Waker::open());
  return std::unique_ptr<SwitchThread>(
      new SwitchThread(std::move(port), std::move(rules), options.group, std::move(waker)));
}

SwitchThread::SwitchThread(std::unique_ptr<UdpPort> port, in_network::SlotRules rules,
                           UdpAddress group, Waker waker)
    : port_(std::move(port)),
      rules_(std::move(rules)),
      loop_(*port_, rules_, group),
      address_(port_->address()),
      joins_(port_->joins_segments()),
      cuts_(port_->cuts_segments()),
      slots_(rules_.slots()),
      waker_(std::move(waker)),
      thread_([this] { run(); }) {}

SwitchThread::~SwitchThread() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  waker_.signal();
  thread_.join();
}

Status SwitchThread::install(const in_network::SlotJob& job) {
  Status status;
  const bool done = call([&] {
    status = rules_.install(job);
    if (status.ok()) jobs_[job.handle] = job;
  });
  return done ? std::move(status) : thread_ended();
}

Status SwitchThread::remove(std::uint16_t handle) {
  Status status;
  const bool done = call([&] {
    status = rules_.remove(handle);
    jobs_.erase(handle);
  });
  return done ? std::move(status) : thread_ended();
}

SwitchFigures SwitchThread::figures() {
  SwitchFigures figures;
  figures.mode = "user";
  call([&] {
    figures.packets = rules_.counters();
    figures.port = port_->counters();
    figures.group_falls = loop_.group_falls();
    figures.slots = rules_.slots();
    figures.slots_free = rules_.slots_free();
    for (const auto& [handle, job] : jobs_) figures.jobs.push_back(job);
  });
  return figures;
}

void SwitchThread::log_start(Log& log) const {
  log.info("switch", "listening",
           {{"address", address_.text()}, {"slots", slots_}, {"gro", joins_}, {"gso", cuts_}});
}

Status SwitchThread::status() const {
  const std::lock_guard lock(mutex_);
  return status_;
}

bool SwitchThread::call(const std::function<void()>& work) {
  const auto done = std::make_shared<std::promise<void>>();  // its other user may outlive this call
  std::future<void> ready = done->get_future();
  {
    const std::lock_guard lock(mutex_);
    if (ended_) return false;
    calls_.push_back([&work, done] {
      work();
      done->set_value();
    });
  }
  waker_.signal();
  ready.wait();
  return true;
}

void SwitchThread::run_calls() {
  std::vector<std::function<void()>> calls;
  {
    const std::lock_guard lock(mutex_);
    calls.swap(calls_);
  }
  for (const std::function<void()>& work : calls) work();
}

// Calls that came before the end are still run, because their callers wait.
void SwitchThread::run() {
  serve();
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
  }
  run_calls();
}

void SwitchThread::serve() {
  while (true) {
    std::array<pollfd, 2> ready = {pollfd{.fd = port_->file(), .events = POLLIN, .revents = 0},
                                   pollfd{.fd = waker_.file(), .events = POLLIN, .revents = 0}};
    ::poll(ready.data(), ready.size(), -1);
    if (ready[1].revents != 0 && waker_.take()) {
      run_calls();
      const std::lock_guard lock(mutex_);
      if (ending_) return;
    }
    if (Status turned = loop_.turn().status(); !turned.ok()) {
      const std::lock_guard lock(mutex_);
      status_ = std::move(turned);
      return;
    }
  }
}

}  // namespace tributary::switchd
