// With the thread sanitizer this file and fiber.cc are compiled without its checks: their own
// memory passes between fibers without an order that the sanitizer knows. order_before() and
// order_after() state the order that a GPU guarantees.
#include "core/codec/cuda/emulated/grid.h"

#include <fmt/format.h>

#include <memory>
#include <mutex>
#include <numeric>
#include <vector>

#include "core/codec/cuda/emulated/emulated_testing.h"
#include "core/codec/cuda/emulated/fiber.h"
#include "core/codec/cuda/emulated/operations.h"

#ifdef TRIBUTARY_THREAD_SANITIZER
#include <sanitizer/tsan_interface.h>

#include <condition_variable>
#include <thread>
#endif

namespace tributary::emulated {
namespace {

// All that happened before order_before(place) happened before what follows order_after(place).
#ifdef TRIBUTARY_THREAD_SANITIZER
void order_before(void* place) { __tsan_release(place); }
void order_after(void* place) { __tsan_acquire(place); }
#else
void order_before(void*) {}
void order_after(void*) {}
#endif

// A generator of orders (xorshift).
class Order {
 public:
  explicit Order(std::uint32_t seed) : state_(seed * 0x9e3779b9u + 1) {}

  // A value below `bound`.
  std::uint32_t below(std::uint32_t bound) {
    state_ ^= state_ << 13;
    state_ ^= state_ >> 17;
    state_ ^= state_ << 5;
    return static_cast<std::uint32_t>((std::uint64_t{state_} * bound) >> 32);
  }

 private:
  std::uint32_t state_;
};

// The blocks of a grid in a random order, without a list of them.
class BlockOrder {
 public:
  BlockOrder(std::uint32_t grid, Order order) : grid_(grid), first_(order.below(grid)) {
    do {
      stride_ = 1 + order.below(grid);
    } while (std::gcd(stride_, grid) != 1);
  }
  std::uint32_t at(std::uint32_t i) const {
    return static_cast<std::uint32_t>((first_ + std::uint64_t{i} * stride_) % grid_);
  }

 private:
  std::uint32_t grid_;
  std::uint32_t first_;
  std::uint32_t stride_;
};

enum class State : std::uint8_t { ready, at_barrier, in_warp, ended };

class ThreadBlock;

struct GridThread {
  ThreadBlock& block;
  const unsigned index;
  State state = State::ended;
  unsigned site = 0;       // of the call that waits
  unsigned barriers = 0;   // calls so far
  unsigned exchanges = 0;  // likewise
  std::unique_ptr<Fiber> fiber = nullptr;
};

// The values of two consecutive warp functions. A third one cannot begin before all lanes have
// read the first one's values.
struct Warp {
  std::uint32_t values[2][kWarp] = {};
  char places[2] = {};
};

struct Call {
  LaunchShape shape;
  void (*call)(const void* what) = nullptr;
  const void* what = nullptr;
};

// The block that an OS thread runs. Its fibers are kept for the next blocks.
class ThreadBlock {
 public:
  // Runs the blocks `first`, `first` + `step`, ... of the order.
  Status run_blocks(const Call& call, std::uint32_t seed, std::uint32_t first, std::uint32_t step);

  GridThread& running() { return *running_; }
  const LaunchShape& shape() const { return call_.shape; }
  unsigned block() const { return block_; }
  void run_thread(GridThread& thread);
  void wait_for_block(unsigned site);
  const std::uint32_t* exchange(unsigned mask, std::uint32_t value, unsigned site);

 private:
  Status prepare();
  Status run_block(Order& order);
  void shuffle(Order& order);
  bool release_warps();
  Status release_barrier();
  void refuse(StatusCode code, const char* expected, std::string got);
  // Ends the block: its threads cannot continue.
  Status abandon();

  Call call_;
  std::vector<std::unique_ptr<GridThread>> threads_;
  std::vector<std::uint16_t> turns_;
  std::vector<Warp> warps_;
  GridThread* running_ = nullptr;
  unsigned block_ = 0;
  Status error_;
  char begin_place_ = 0;
  char end_place_ = 0;
  char barrier_places_[2] = {};
};

thread_local std::uint32_t next_seed = 1;
// Shared variables of a kernel are one set for the process.
std::mutex grids;

ThreadBlock& this_block() {
  thread_local ThreadBlock block;
  return block;
}

[[noreturn]] void run_fiber(void* argument) {
  auto& thread = *static_cast<GridThread*>(argument);
  for (;;) thread.block.run_thread(thread);
}

void ThreadBlock::run_thread(GridThread& thread) {
  order_after(&begin_place_);
  call_.call(call_.what);
  order_before(&end_place_);
  thread.state = State::ended;
  thread.fiber->yield();
}

void ThreadBlock::wait_for_block(unsigned site) {
  GridThread& thread = running();
  char* const place = &barrier_places_[thread.barriers++ % 2];
  order_before(place);
  thread.site = site;
  thread.state = State::at_barrier;
  thread.fiber->yield();
  order_after(place);
}

const std::uint32_t* ThreadBlock::exchange(unsigned mask, std::uint32_t value, unsigned site) {
  GridThread& thread = running();
  if (mask != 0xffffffffu) {
    refuse(StatusCode::unsupported, "the full mask", fmt::format("{:#x}", mask));
  } else if (shape().threads - thread.index / kWarp * kWarp < kWarp) {
    refuse(StatusCode::unsupported, "a warp of 32 threads",
           fmt::format("{}", shape().threads % kWarp));
  }
  Warp& warp = warps_[thread.index / kWarp];
  const unsigned turn = thread.exchanges++ % 2;
  warp.values[turn][thread.index % kWarp] = value;
  order_before(&warp.places[turn]);
  thread.site = site;
  thread.state = State::in_warp;
  thread.fiber->yield();
  order_after(&warp.places[turn]);
  return warp.values[turn];
}

void ThreadBlock::refuse(StatusCode code, const char* expected, std::string got) {
  if (!error_.ok()) return;
  error_ = Status(code, {.what = fmt::format("kernel {}, block {}", shape().kernel, block_),
                         .expected = expected,
                         .got = std::move(got),
                         .remedy = "mend the kernel"});
}

// Fibers are made once, because that costs more than a block.
Status ThreadBlock::prepare() {
  const unsigned threads = shape().threads;
  while (threads_.size() < threads) {
    const auto index = static_cast<unsigned>(threads_.size());
    auto thread = std::make_unique<GridThread>(GridThread{.block = *this, .index = index});
    TRIBUTARY_ASSIGN(thread->fiber, Fiber::make(run_fiber, thread.get()));
    threads_.push_back(std::move(thread));
  }
  turns_.resize(threads);
  std::iota(turns_.begin(), turns_.end(), std::uint16_t{0});
  warps_.assign((threads + kWarp - 1) / kWarp, {});
  return {};
}

void ThreadBlock::shuffle(Order& order) {
  for (auto left = static_cast<std::uint32_t>(turns_.size()); left > 1; --left) {
    std::swap(turns_[left - 1], turns_[order.below(left)]);
  }
}

// Lets warps continue whose lanes have all come to one warp function.
bool ThreadBlock::release_warps() {
  bool released = false;
  for (unsigned first = 0; first + kWarp <= shape().threads; first += kWarp) {
    bool complete = true;
    for (unsigned i = first; i < first + kWarp; ++i) {
      complete = complete && threads_[i]->state == State::in_warp &&
                 threads_[i]->site == threads_[first]->site;
    }
    if (!complete) continue;
    for (unsigned i = first; i < first + kWarp; ++i) threads_[i]->state = State::ready;
    released = true;
  }
  return released;
}

// Called when no thread can run: all wait or have ended.
Status ThreadBlock::release_barrier() {
  const unsigned threads = shape().threads;
  unsigned at_barrier = 0;
  for (unsigned i = 0; i < threads; ++i) {
    const GridThread& thread = *threads_[i];
    if (thread.state == State::in_warp) {
      refuse(StatusCode::mismatch, "a warp function that all lanes reach",
             fmt::format("thread {} waits alone at line {}", i, thread.site));
      return error_;
    }
    if (thread.state == State::at_barrier) ++at_barrier;
  }
  for (unsigned i = 0; i < threads && at_barrier > 0; ++i) {
    if (at_barrier < threads) {
      refuse(StatusCode::mismatch, "a barrier that all threads reach",
             fmt::format("{} of {} threads", at_barrier, threads));
      return error_;
    }
    if (threads_[i]->site != threads_[0]->site) {
      refuse(StatusCode::mismatch, "one barrier for all threads",
             fmt::format("lines {} and {}", threads_[0]->site, threads_[i]->site));
      return error_;
    }
    threads_[i]->state = State::ready;
  }
  return {};
}

Status ThreadBlock::run_block(Order& order) {
  const unsigned threads = shape().threads;
  for (unsigned i = 0; i < threads; ++i) {
    threads_[i]->state = State::ready;
    threads_[i]->barriers = threads_[i]->exchanges = 0;
  }
  order_before(&begin_place_);
  bool more = true;
  while (more) {
    more = false;
    shuffle(order);
    for (const std::uint16_t turn : turns_) {
      if (threads_[turn]->state != State::ready) continue;
      running_ = threads_[turn].get();
      running_->fiber->resume();
      if (!error_.ok()) return abandon();
      more = true;
    }
    if (!release_warps() && more && !release_barrier().ok()) return abandon();
  }
  order_after(&end_place_);
  return {};
}

Status ThreadBlock::abandon() {
  order_after(&end_place_);
  for (char& place : barrier_places_) order_after(&place);
  for (Warp& warp : warps_) {
    for (char& place : warp.places) order_after(&place);
  }
  for (unsigned i = 0; i < shape().threads; ++i) {
    if (threads_[i]->state != State::ended) threads_[i]->fiber->restart();
  }
  return std::exchange(error_, {});
}

Status ThreadBlock::run_blocks(const Call& call, std::uint32_t seed, std::uint32_t first,
                               std::uint32_t step) {
  call_ = call;
  TRIBUTARY_TRY(prepare());
  const BlockOrder blocks(shape().grid, Order(seed));
  Order order(seed + first);
  for (std::uint64_t i = first; i < shape().grid; i += step) {
    block_ = blocks.at(static_cast<std::uint32_t>(i));
    TRIBUTARY_TRY(run_block(order));
  }
  return {};
}

#ifdef TRIBUTARY_THREAD_SANITIZER
// A second OS thread that runs every other block.
class Helper {
 public:
  Helper() : thread_([this] { run(); }) {}
  ~Helper() {
    {
      const std::lock_guard lock(mutex_);
      ending_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }

  // Returns when the helper has the work. Nothing that the sanitizer sees orders its blocks and the
  // caller's, so the answer is a flag that is written without its knowledge.
  void start(const Call& call, std::uint32_t seed) {
    {
      const std::lock_guard lock(mutex_);
      call_ = call;
      seed_ = seed;
      working_ = true;
    }
    changed_.notify_all();
    while (!__atomic_exchange_n(&taken_, false, __ATOMIC_ACQ_REL)) std::this_thread::yield();
  }
  Status finish() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return !working_; });
    return std::exchange(result_, {});
  }

 private:
  void run() {
    for (;;) {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [this] { return working_ || ending_; });
      if (ending_) return;
      const Call call = call_;
      const std::uint32_t seed = seed_;
      lock.unlock();
      __atomic_store_n(&taken_, true, __ATOMIC_RELEASE);
      Status result = this_block().run_blocks(call, seed, 1, 2);
      lock.lock();
      result_ = std::move(result);
      working_ = false;
      lock.unlock();
      changed_.notify_all();
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  bool working_ = false;
  bool taken_ = false;
  bool ending_ = false;
  Call call_;
  std::uint32_t seed_ = 0;
  Status result_;
  std::thread thread_;
};

Status run_all(const Call& call, std::uint32_t seed) {
  if (call.shape.grid == 1) return this_block().run_blocks(call, seed, 0, 1);
  thread_local Helper helper;
  helper.start(call, seed);
  Status own = this_block().run_blocks(call, seed, 0, 2);
  Status others = helper.finish();
  return own.ok() ? others : own;
}
#else
Status run_all(const Call& call, std::uint32_t seed) {
  return this_block().run_blocks(call, seed, 0, 1);
}
#endif

Status check_shape(const LaunchShape& shape) {
  const auto what = [&](const char* which) {
    return fmt::format("kernel {}, {}", shape.kernel, which);
  };
  if (shape.grid == 0 || shape.grid > kGridMax) {
    return Status(StatusCode::invalid_argument, {.what = what("blocks"),
                                                 .expected = fmt::format("1 to {}", kGridMax),
                                                 .got = fmt::format("{}", shape.grid)});
  }
  if (shape.threads == 0 || shape.threads > kThreadsMax) {
    return Status(StatusCode::invalid_argument, {.what = what("threads of a block"),
                                                 .expected = fmt::format("1 to {}", kThreadsMax),
                                                 .got = fmt::format("{}", shape.threads)});
  }
  return {};
}

}  // namespace

Status check_launch(const LaunchShape& shape) {
  TRIBUTARY_TRY(check_shape(shape));
  return begin_operation(Operation::launch);
}

Status run_grid(const LaunchShape& shape, void (*call)(const void* what), const void* what) {
  TRIBUTARY_TRY(check_launch(shape));
  return run_checked_grid(shape, call, what);
}

Status run_checked_grid(const LaunchShape& shape, void (*call)(const void* what),
                        const void* what) {
  const std::lock_guard one_at_a_time(grids);
  return run_all({.shape = shape, .call = call, .what = what}, next_seed++);
}

void set_order_seed(std::uint32_t seed) { next_seed = seed; }
std::uint32_t draw_below(std::uint32_t bound) { return Order(next_seed++).below(bound); }

Index thread_index() { return {this_block().running().index}; }
Index block_index() { return {this_block().block()}; }
Index block_size() { return {this_block().shape().threads}; }
Index grid_size() { return {this_block().shape().grid}; }
void wait_for_block(unsigned site) { this_block().wait_for_block(site); }
const std::uint32_t* exchange_in_warp(unsigned mask, std::uint32_t value, unsigned site) {
  return this_block().exchange(mask, value, site);
}

}  // namespace tributary::emulated
