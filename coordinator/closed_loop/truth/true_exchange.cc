#include "coordinator/closed_loop/truth/true_exchange.h"

#include <algorithm>
#include <map>
#include <utility>

#include "core/cost/exchange_shape.h"

namespace tributary {
namespace {

// A payload goes up in parts of at most this size, of which the coordinator times the arrivals.
constexpr double kTruePartBytes = 64 * 1024;
// An agent measures a peer's link only by larger transfers (docs/link_measurement.md).
constexpr double kPairBytesMin = 64 * 1024;
// Results are not divided into smaller segments for their upload.
constexpr double kTrueSegmentBytesMin = 4096;
// Messages beside payloads: plan and commit, and the report.
constexpr double kTrueCommitBytes = 1000;
constexpr double kTrueReportBytes = 650;

class PlayedExchange {
 public:
  PlayedExchange(const TrueFederation& federation, const std::vector<std::uint32_t>& members,
                 TcpWindows& windows, const TrueWork& work)
      : work_(work),
        n_(static_cast<std::uint32_t>(members.size())),
        tree_(tree_of(work.kind).value_or(ExchangeTree())),
        network_(federation, members, windows, std::ranges::min(work.begins_s),
                 [this](const TrueNetwork::Arrival& arrival) { arrived(arrival); }) {
    result_.uploads.resize(n_);
    decoded_.resize(n_);
    reported_s_.resize(n_);
    result_.waits_s.resize(n_);
    count_.resize(std::size_t{work.buckets} * work.stages.size() * (n_ + 1));
    for (Place place; place.stage < work.stages.size(); ++place.stage) {
      results_ += work.buckets * segments(place);
    }
    for (std::uint32_t member = 0; member < n_; ++member) {
      network_.at(work.begins_s[member], [this, member] { begin_bucket(0, member); });
    }
  }

  TrueExchanged run() {
    network_.run();
    result_.ends_s = std::max(network_.now_s(), std::ranges::max(work_.begins_s));
    result_.messages = network_.messages();
    return std::move(result_);
  }

 private:
  // One stage of one bucket.
  struct Place {
    std::uint32_t bucket = 0;
    std::uint32_t stage = 0;
  };

  bool star() const { return work_.kind == wire::Collective::star; }
  const StagePayload& stage(const Place& place) const { return work_.stages[place.stage]; }
  double speed(std::uint32_t node) const { return node == n_ ? 1 : work_.cpu_slowdown; }
  double up_bytes(const Place& place, std::uint32_t member) const {
    const double share = work_.upload_share.empty() ? 1 : work_.upload_share[member];
    return stage(place).up_bytes * share;
  }
  std::uint32_t& count(const Place& place, std::uint32_t node) {
    const std::size_t row = std::size_t{place.bucket} * work_.stages.size() + place.stage;
    return count_[row * (n_ + 1) + node];
  }
  std::uint32_t distance(std::uint32_t root, std::uint32_t member) const {
    return (member + n_ - root) % n_;
  }
  std::uint32_t owner(const Place& place) const {
    return tree_.owners_take_turns ? place.bucket % n_ : 0;
  }
  // Whether every member receives the payloads of all members.
  bool gathers(const Place& place) const {
    const StageFlow flow = stage(place).flow;
    if (star() || flow == StageFlow::from_root) return false;
    return flow == StageFlow::gathered || work_.kind == wire::Collective::all_gather;
  }

  // Sends, and lets the receiver spend `seconds` of its core on the payload.
  void pass(std::uint32_t from, std::uint32_t to, double bytes, double seconds,
            TrueNetwork::Done done) {
    const double work_s = (work_.message_s + seconds) * speed(to);
    network_.compute(from, work_.message_s * speed(from),
                     [this, from, to, bytes, work_s, done = std::move(done)]() mutable {
                       network_.send(from, to, bytes,
                                     [this, to, work_s, done = std::move(done)]() mutable {
                                       network_.compute(to, work_s, std::move(done));
                                     });
                     });
  }

  // A member encodes one bucket after the other.
  void begin_bucket(std::uint32_t bucket, std::uint32_t member) {
    if (bucket == work_.buckets) return;
    const Place place = {.bucket = bucket};
    network_.compute(member, encode_s(place, member), [this, place, member] {
      begin(place, member);
      begin_bucket(place.bucket + 1, member);
    });
  }

  double encode_s(const Place& place, std::uint32_t member) const {
    if (stage(place).flow == StageFlow::from_root && member != 0) return 0;
    return stage(place).encode_s * speed(member);
  }

  void begin(const Place& place, std::uint32_t member) {
    if (stage(place).flow == StageFlow::from_root) {
      if (member == 0) from_root(place);
    } else if (star()) {
      pass(member, n_, up_bytes(place, member), stage(place).aggregate_s,
           [=, this] { arrived_at_hub(place); });
    } else if (gathers(place)) {
      spread(place, member, member);
    } else {
      up(place, member);  // its own part is present
    }
  }

  void from_root(const Place& place) {
    const double bytes = stage(place).up_bytes;
    if (!star()) return down(place, 0, 0, bytes);
    pass(0, n_, bytes, 0, [=, this] {
      for (std::uint32_t other = 1; other < n_; ++other) {
        pass(n_, other, bytes, 0, [=, this] { finish(place, other); });
      }
    });
    finish(place, 0);
  }

  void arrived_at_hub(const Place& place) {
    if (++count(place, n_) < n_) return;
    for (std::uint32_t member = 0; member < n_; ++member) {
      pass(n_, member, stage(place).down_bytes, 0, [=, this] { finish(place, member); });
    }
    if (place.stage + 1 == work_.stages.size() && ++settled_ == work_.buckets) commit();
  }

  void up(const Place& place, std::uint32_t member) {
    const std::uint32_t root = owner(place);
    const std::uint32_t d = distance(root, member);
    if (++count(place, member) <= children_up(tree_.shape, n_, d)) return;
    if (d == 0) return down(place, root, member, stage(place).down_bytes);
    std::uint32_t parent = 0;
    if (tree_.shape == TreeShape::chain) parent = (d + 1) % n_;
    if (tree_.shape == TreeShape::binomial) parent = d & (d - 1);
    const std::uint32_t to = (root + parent) % n_;
    pass(member, to, stage(place).up_bytes, stage(place).aggregate_s, [=, this] { up(place, to); });
  }

  // The children of a member, the one with the largest subtree first.
  std::vector<std::uint32_t> below(std::uint32_t root, std::uint32_t member) const {
    const std::uint32_t d = distance(root, member);
    std::vector<std::uint32_t> children;
    for (std::uint32_t i = children_down(tree_.shape, n_, d); i-- > 0;) {
      const std::uint32_t step = tree_.shape == TreeShape::binomial ? 1u << i : i + 1;
      children.push_back((root + d + step) % n_);
    }
    return children;
  }

  void down(const Place& place, std::uint32_t root, std::uint32_t member, double bytes) {
    for (const std::uint32_t child : below(root, member)) {
      pass(member, child, bytes, 0, [=, this] { down(place, root, child, bytes); });
    }
    finish(place, member);
  }

  // A receiver adds each payload; a codec whose payloads cannot be added as they are decodes it
  // first.
  void spread(const Place& place, std::uint32_t origin, std::uint32_t member) {
    const bool as_combined = stage(place).flow == StageFlow::gathered;
    const double add_s = stage(place).aggregate_s + (as_combined ? 0 : work_.decode_s);
    for (const std::uint32_t child : below(origin, member)) {
      pass(member, child, up_bytes(place, origin), add_s,
           [=, this] { spread(place, origin, child); });
    }
    if (++count(place, member) == n_) finish(place, member);
  }

  void finish(const Place& place, std::uint32_t member) {
    const Place next = {.bucket = place.bucket, .stage = place.stage + 1};
    if (next.stage < work_.stages.size()) {
      network_.compute(member, encode_s(next, member), [=, this] { begin(next, member); });
      return;
    }
    if (!star() && !work_.upload_last) upload_segments_of(place.bucket, member);
    network_.compute(member, work_.decode_s * speed(member), [=, this] { bucket_decoded(member); });
  }

  // The payloads of a stage that gathers are not combined.
  double result_bytes(const Place& place) const {
    const StagePayload& each = stage(place);
    if (each.flow == StageFlow::from_root) return each.up_bytes;
    if (each.flow == StageFlow::reduced) return each.down_bytes;
    double bytes = 0;
    for (std::uint32_t member = 0; member < n_; ++member) bytes += up_bytes(place, member);
    return bytes;
  }
  std::uint32_t segments(const Place& place) const {
    return true_segments(result_bytes(place), n_);
  }
  void upload_segments_of(std::uint32_t bucket, std::uint32_t member) {
    const std::uint32_t own = (member + n_ - bucket % n_) % n_;  // its segment, if there are enough
    for (Place place = {.bucket = bucket}; place.stage < work_.stages.size(); ++place.stage) {
      const std::uint32_t count = segments(place);
      if (own >= count) continue;
      pass(member, n_, result_bytes(place) / count, 0, [this] { settle(); });
    }
  }

  // Among peers, members upload their segment of a bucket's result as soon as they have it, or all
  // segments when they have all results. The commit follows when all results and all reports have
  // arrived.
  void bucket_decoded(std::uint32_t member) {
    if (star() || ++decoded_[member] < work_.buckets) return;
    reported_s_[member] = network_.now_s();
    for (std::uint32_t i = 0; work_.upload_last && i < work_.buckets; ++i) {
      upload_segments_of(i, member);
    }
    pass(member, n_, kTrueReportBytes, 0, [this] { settle(); });
  }
  void settle() {
    if (++settled_ == results_ + n_) commit();
  }
  void commit() {
    for (std::uint32_t to = 0; to < n_; ++to) {
      pass(n_, to, kTrueCommitBytes, 0, [this, to] {
        if (!star()) result_.waits_s[to] = network_.now_s() - reported_s_[to];
      });
    }
  }

  void arrived(const TrueNetwork::Arrival& arrival) {
    if (arrival.to == n_) return measure_upload(arrival);
    if (arrival.from != n_) measure_pair(arrival);
  }

  void measure_upload(const TrueNetwork::Arrival& arrival) {
    TrueExchanged::Upload& upload = result_.uploads[arrival.from];
    upload.bytes += arrival.piece_bytes;
    double& part = parts_[arrival.from];
    part += arrival.piece_bytes;
    if (part < kTruePartBytes && !arrival.last) return;
    const double bytes = std::exchange(part, 0);
    if (upload.first_s == 0) {
      upload.first_s = arrival.at_s;
    } else {
      upload.bytes_after_first += bytes;
    }
    upload.last_s = arrival.at_s;
  }

  void measure_pair(const TrueNetwork::Arrival& arrival) {
    double& began_s = pair_began_s_[{arrival.from, arrival.to}];
    if (arrival.arrived_bytes <= arrival.piece_bytes) began_s = arrival.at_s;
    const double bytes = arrival.arrived_bytes - arrival.piece_bytes;
    if (!arrival.last || bytes < kPairBytesMin) return;
    result_.pairs.push_back({.from = arrival.from,
                             .to = arrival.to,
                             .bytes = bytes,
                             .seconds = arrival.at_s - began_s,
                             .at_s = arrival.at_s});
  }

  const TrueWork& work_;
  const std::uint32_t n_;
  const ExchangeTree tree_;
  TrueNetwork network_;
  TrueExchanged result_;
  std::vector<std::uint32_t> count_;       // by bucket, stage and node
  std::map<std::uint32_t, double> parts_;  // bytes of the part that arrives, by member
  std::map<std::pair<std::uint32_t, std::uint32_t>, double> pair_began_s_;
  std::vector<std::uint32_t> decoded_;  // buckets, by member
  std::vector<double> reported_s_;      // by member
  std::uint32_t results_ = 0;           // segments of all results
  std::uint32_t settled_ = 0;           // segments and reports at the coordinator
};

}  // namespace

TrueExchanged play_exchange(const TrueFederation& federation,
                            const std::vector<std::uint32_t>& members, TcpWindows& windows,
                            const TrueWork& work) {
  return PlayedExchange(federation, members, windows, work).run();
}

// A result is divided among the members, as long as no segment is smaller than the least size.
std::uint32_t true_segments(double result_bytes, std::uint32_t members) {
  return std::clamp(static_cast<std::uint32_t>(result_bytes / kTrueSegmentBytesMin), 1u, members);
}

double messages_of(wire::Collective kind, const std::vector<StagePayload>& stages, double members,
                   double buckets) {
  double messages = 0;
  for (const StagePayload& stage : stages) {
    const bool gathered = stage.flow == StageFlow::gathered || kind == wire::Collective::all_gather;
    const bool all_to_all =
        gathered && kind != wire::Collective::star && stage.flow != StageFlow::from_root;
    messages += buckets * members * (all_to_all ? members : 2);
  }
  return messages;
}

}  // namespace tributary
