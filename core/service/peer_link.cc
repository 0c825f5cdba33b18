#include "core/service/peer_link.h"

#include <fmt/format.h>

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <set>
#include <utility>
#include <variant>

namespace tributary {
namespace {

constexpr std::size_t kRefusedMax = 16;  // that are remembered
constexpr std::size_t kMeasuredMax = 1024;
// The quickest round trip of some minutes is no other reading when it is read again.
constexpr std::chrono::seconds kRoundTripEvery{10};

double seconds(std::chrono::nanoseconds time) {
  return std::chrono::duration<double>(time).count();
}

std::size_t bytes_of_message(const SendToPeer& message) {
  return message.frame.size() + message.payload.size();
}

Status too_much_waits(std::uint32_t member, std::size_t bytes_max) {
  return Status(StatusCode::resource_exhausted,
                {.what = fmt::format("what waits for member {}", member),
                 .expected = fmt::format("at most {} bytes", bytes_max),
                 .got = "more",
                 .remedy = "it takes too little: exchange by the coordinator"});
}

}  // namespace

// What the threads have in common. Whoever still holds a message holds this too.
class PeerLink::Desk {
 public:
  explicit Desk(std::size_t unsent_bytes_max) : unsent_bytes_max_(unsent_bytes_max) {}

  // --- the machine's side ---

  void begin(std::optional<OpenPeers> epoch) {
    change([&] {
      ++number_;
      epoch_ = std::move(epoch);
      sends_.clear();
      unsent_bytes_ = 0;
      overrun_by_.reset();
      refused_.clear();  // those who were here a little earlier: now they are welcome
    });
  }
  void end() {
    change([&] { ending_ = true; });
  }
  void send(SendToPeer message) {
    const std::size_t bytes = bytes_of_message(message);
    const std::lock_guard lock(mutex_);
    if (!epoch_ || overrun_by_) return;
    const bool first = sends_.empty();
    if (unsent_bytes_ + bytes > unsent_bytes_max_) {
      overrun_by_ = message.member;
    } else {
      unsent_bytes_ += bytes;
      sends_.push_back(std::move(message));
    }
    if (first || overrun_by_) alert();
  }

  PeerLinkCounters counters() const {
    const std::lock_guard lock(mutex_);
    return counters_;
  }
  std::vector<Refused> take_refused() {
    const std::lock_guard lock(mutex_);
    return std::exchange(refused_, {});
  }

  // --- the thread's side ---

  struct Wanted {
    std::uint64_t number = 0;
    std::optional<OpenPeers> epoch;
  };
  // Another than `seen`; nothing: it is time to end.
  std::optional<Wanted> next_epoch(std::uint64_t seen) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return ending_ || number_ != seen; });
    if (ending_) return std::nullopt;
    return Wanted{number_, epoch_};
  }

  struct Work {
    std::vector<SendToPeer> sends;
    std::optional<std::uint32_t> overrun_by;
  };
  // Waits until what was handed out is less than so much. Nothing: the epoch is over.
  std::optional<Work> work(std::uint64_t number, std::size_t unread_bytes_max) {
    std::unique_lock lock(mutex_);
    const auto over = [&] { return ending_ || number_ != number; };
    changed_.wait(lock, [&] { return over() || unread_bytes_ < unread_bytes_max; });
    if (over()) return std::nullopt;
    unsent_bytes_ = 0;
    return Work{std::exchange(sends_, {}), overrun_by_};
  }

  // Nothing more is to be sent in it.
  void give_up(std::uint64_t number) {
    const std::lock_guard lock(mutex_);
    if (number_ != number) return;
    epoch_.reset();
    sends_.clear();
    unsent_bytes_ = 0;
  }

  // Whom to wake when there is something new.
  void attach(Transport* mesh) {
    const std::lock_guard lock(mutex_);
    mesh_ = mesh;
  }

  void count(const LinkCounters& more, std::optional<Refused> refused) {
    const std::lock_guard lock(mutex_);
    counters_.bytes_in += more.wire_bytes_in;
    counters_.bytes_out += more.wire_bytes_out;
    counters_.refused += more.refused_in_all();
    if (refused && refused_.size() < kRefusedMax) refused_.push_back(*std::move(refused));
  }

  void measured(const std::string& agent_id, const LinkTransfer& transfer) {
    const std::lock_guard lock(mutex_);
    if (agent_id.empty()) return;
    links_.add(agent_id, transfer);
    fresh_.insert(agent_id);
    if (fresh_.size() > kMeasuredMax) fresh_.erase(fresh_.begin());
  }
  std::vector<PeerMeasured> take_measured(std::size_t count_max, double now_s) {
    const std::lock_guard lock(mutex_);
    std::vector<PeerMeasured> out;
    while (!fresh_.empty() && out.size() < count_max) {
      std::string agent_id = std::move(fresh_.extract(fresh_.begin()).value());
      const MeasuredLink link = links_.measured(agent_id, now_s);
      out.push_back({.agent_id = std::move(agent_id), .link = link});
    }
    return out;
  }

  void hand_out(std::size_t bytes) {
    const std::lock_guard lock(mutex_);
    unread_bytes_ += bytes;
  }
  void let_go_of(std::size_t bytes) {
    const std::lock_guard lock(mutex_);
    unread_bytes_ -= bytes;
    changed_.notify_one();
  }

 private:
  template <typename Change>
  void change(const Change& change) {
    const std::lock_guard lock(mutex_);
    change();
    alert();
  }
  void alert() {
    changed_.notify_one();
    if (mesh_ != nullptr) mesh_->wake();
  }

  const std::size_t unsent_bytes_max_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool ending_ = false;
  std::uint64_t number_ = 0;  // of beginnings
  std::optional<OpenPeers> epoch_;
  std::vector<SendToPeer> sends_;
  std::size_t unsent_bytes_ = 0;  // of sends_
  std::optional<std::uint32_t> overrun_by_;
  std::size_t unread_bytes_ = 0;
  Transport* mesh_ = nullptr;
  PeerLinkCounters counters_;
  std::vector<Refused> refused_;
  LinkTable links_{kMeasuredMax};  // outlives epochs
  std::set<std::string> fresh_;
};

// A message that was handed out: it counts until it goes.
class PeerLink::Unread {
 public:
  Unread(std::shared_ptr<Desk> desk, Bytes frame, std::size_t payload_bytes)
      : desk_(std::move(desk)), frame_(std::move(frame)), bytes_(frame_.size() + payload_bytes) {
    desk_->hand_out(bytes_);
  }
  ~Unread() { desk_->let_go_of(bytes_); }
  Unread(const Unread&) = delete;
  Unread& operator=(const Unread&) = delete;

  ByteSpan frame() const { return frame_; }

 private:
  const std::shared_ptr<Desk> desk_;
  const Bytes frame_;
  const std::size_t bytes_;
};

// One mesh, on the thread.
class PeerLink::Epoch {
 public:
  Epoch(PeerLink& link, std::uint64_t number, OpenPeers epoch)
      : link_(link),
        desk_(*link.desk_),
        number_(number),
        epoch_(std::move(epoch)),
        lost_(epoch_.members.size()),
        round_trip_at_(epoch_.members.size(), std::chrono::nanoseconds::min()) {}
  ~Epoch() {
    if (mesh_) count({});
    desk_.attach(nullptr);
  }
  Epoch(const Epoch&) = delete;
  Epoch& operator=(const Epoch&) = delete;

  // Until another one begins.
  void run() {
    const Status ended = play();
    if (ended.ok()) return;
    desk_.give_up(number_);
    for (std::uint32_t member = 0; member < lost_.size(); ++member) lose(member, ended);
  }

 private:
  // An error is the end of it for every member.
  Status play() {
    TRIBUTARY_TRY(open());
    while (std::optional<Desk::Work> work = desk_.work(number_, link_.options_.unread_bytes_max)) {
      TRIBUTARY_TRY(send(*work));
      TRIBUTARY_ASSIGN(std::optional<LinkEvent> event,
                       mesh_->receive(std::chrono::nanoseconds::max()));
      if (event) {
        take(*event);
      } else {
        count({});
      }
    }
    return {};
  }

  Status open() {
    MeshOptions options{.rank = epoch_.member,
                        .members = {},
                        .session = epoch_.session,
                        .keys = link_.options_.keys,
                        .connect_max = link_.options_.connect_max,
                        .refused_max = link_.options_.refused_max};
    options.limits.send_queue_bytes = link_.options_.unsent_bytes_max;
    for (const OpenPeers::Member& member : epoch_.members) {
      MeshMember& made = options.members.emplace_back();
      made.endpoint = member.endpoint;
      if (!options.keys) continue;
      if (member.public_key.size() != made.key.bytes.size()) return bad_key(member);
      std::ranges::copy(member.public_key, made.key.bytes.begin());
    }
    TRIBUTARY_ASSIGN(mesh_, link_.port_->open(options));
    desk_.attach(mesh_.get());
    return {};
  }

  static Status bad_key(const OpenPeers::Member& member) {
    return Status(StatusCode::mismatch,
                  {.what = fmt::format("the key of the peer at {}", member.endpoint),
                   .expected = fmt::format("{} bytes", kKeyBytes),
                   .got = fmt::format("{}", member.public_key.size()),
                   .remedy = "encrypt all links of a federation, or none"});
  }

  Status send(Desk::Work& work) {
    for (SendToPeer& message : work.sends) {
      Status status =
          mesh_->send(message.member, std::move(message.frame), std::move(message.payload));
      // That a member is lost the mesh tells by itself.
      if (status.code() != StatusCode::unavailable) TRIBUTARY_TRY(std::move(status));
    }
    if (!work.overrun_by) return {};
    return too_much_waits(*work.overrun_by, link_.options_.unsent_bytes_max);
  }

  void take(LinkEvent& event) {
    if (auto* const refused = std::get_if<Refused>(&event)) return count(std::move(*refused));
    count({});
    if (auto* const lost = std::get_if<Disconnected>(&event)) {
      return lose(lost->rank(), std::move(lost->why));
    }
    auto* const message = std::get_if<Received>(&event);
    if (message == nullptr || lost_[message->rank()] != 0) return;
    measure(*message);
    auto unread = std::make_shared<const Unread>(link_.desk_, std::move(message->frame),
                                                 message->payload.size());
    PeerFrameReceived received{.session = epoch_.session,
                               .from = message->rank(),
                               .frame = unread->frame(),
                               .payload = std::move(message->payload)};
    link_.post_(std::move(received), std::move(unread));
  }

  void measure(const Received& message) {
    const std::chrono::nanoseconds now = link_.clock_.now();
    const std::uint32_t from = message.rank();
    const std::string& agent_id = epoch_.members[from].agent_id;
    if (message.arrival.bytes > 0) {
      desk_.measured(agent_id, {.kind = TransferKind::train,
                                .bytes = static_cast<double>(message.arrival.bytes),
                                .seconds = seconds(message.arrival.took),
                                .at_s = seconds(now)});
    }
    if (now < round_trip_at_[from]) return;
    round_trip_at_[from] = now + kRoundTripEvery;
    if (const std::optional<double> trip = mesh_->round_trip_min_s(from)) {
      desk_.measured(
          agent_id,
          {.kind = TransferKind::round_trip, .bytes = 1, .seconds = *trip, .at_s = seconds(now)});
    }
  }

  void lose(std::uint32_t member, Status why) {
    if (member == epoch_.member || std::exchange(lost_[member], 1)) return;
    link_.post_(PeerLost{.session = epoch_.session, .member = member, .why = std::move(why)},
                nullptr);
  }

  void count(std::optional<Refused> refused) {
    const LinkCounters now = mesh_->counters();
    desk_.count(now - counted_, std::move(refused));
    counted_ = now;
  }

  PeerLink& link_;
  Desk& desk_;
  const std::uint64_t number_;
  const OpenPeers epoch_;
  std::vector<std::uint8_t> lost_;                       // that the machine has been told of
  std::vector<std::chrono::nanoseconds> round_trip_at_;  // when it is looked at again
  std::unique_ptr<Transport> mesh_;
  LinkCounters counted_;
};

Status check_peer_addresses(const std::string& endpoint, const std::string& advertise) {
  if (advertise.empty()) {
    return check_mesh_address(endpoint, MeshAddressUse::listen_and_tell).at("peers.endpoint");
  }
  TRIBUTARY_TRY(check_mesh_address(endpoint, MeshAddressUse::listen).at("peers.endpoint"));
  return check_mesh_address(advertise, MeshAddressUse::tell).at("peers.advertise");
}

Result<std::unique_ptr<PeerLink>> PeerLink::make(PeerLinkOptions options, const Clock& clock,
                                                 Post post) {
  TRIBUTARY_TRY(check_peer_addresses(options.endpoint, options.advertise));
  TRIBUTARY_ASSIGN(std::unique_ptr<PeerPort> port,
                   open_tcp_peer_port(options.endpoint, options.advertise, clock));
  return make_over(std::move(port), std::move(options), clock, std::move(post));
}

std::unique_ptr<PeerLink> PeerLink::make_over(std::unique_ptr<PeerPort> port,
                                              PeerLinkOptions options, const Clock& clock,
                                              Post post) {
  return std::unique_ptr<PeerLink>(
      new PeerLink(std::move(port), std::move(options), clock, std::move(post)));
}

PeerLink::PeerLink(std::unique_ptr<PeerPort> port, PeerLinkOptions options, const Clock& clock,
                   Post post)
    : options_(std::move(options)),
      clock_(clock),
      post_(std::move(post)),
      port_(std::move(port)),
      desk_(std::make_shared<Desk>(options_.unsent_bytes_max)),
      thread_([this] { run(); }) {}

PeerLink::~PeerLink() {
  desk_->end();
  thread_.join();
}

void PeerLink::run() {
  std::uint64_t seen = 0;
  while (std::optional<Desk::Wanted> wanted = desk_->next_epoch(seen)) {
    seen = wanted->number;
    if (wanted->epoch) Epoch(*this, seen, *std::move(wanted->epoch)).run();
  }
}

void PeerLink::open(OpenPeers epoch) { desk_->begin(std::move(epoch)); }
void PeerLink::close() { desk_->begin(std::nullopt); }
void PeerLink::send(SendToPeer message) { desk_->send(std::move(message)); }
PeerLinkCounters PeerLink::counters() const { return desk_->counters(); }
std::vector<PeerMeasured> PeerLink::take_measured(std::size_t count_max) {
  return desk_->take_measured(count_max, seconds(clock_.now()));
}
std::vector<Refused> PeerLink::take_refused() { return desk_->take_refused(); }

}  // namespace tributary
