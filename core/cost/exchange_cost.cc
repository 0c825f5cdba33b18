#include "core/cost/exchange_cost.h"

#include <algorithm>
#include <cmath>

namespace tributary {
namespace {

// Protects against a division by zero; no machine gives an agent less than a thousandth of a core.
constexpr double kCoresMin = 1e-3;

// Bytes through the ports of a root and of the busiest other member. In a star, the root is the
// coordinator.
struct Traffic {
  double root_out = 0;
  double root_in = 0;
  double other_out = 0;
  double other_in = 0;

  Traffic& operator+=(const Traffic& more) {
    root_out += more.root_out;
    root_in += more.root_in;
    other_out += more.other_out;
    other_in += more.other_in;
    return *this;
  }
};

struct StageTime {
  Traffic traffic;      // all buckets
  double lost_s = 0;    // idle time of the busiest port before and after its work
  double alone_s = 0;   // one bucket on an idle network
  double behind_s = 0;  // transmissions that remain when a single bucket has arrived
  // Per bucket: a root cannot complete buckets faster, however idle its ports are.
  double pace_s = 0;
  bool one_root = false;  // true: the idle time follows from alone_s
};

// The bytes of the member at a distance from the root, per bucket: what it sends of its own and to
// each child, or receives.
struct DistanceBytes {
  double own = 0;        // of every member but the root
  double per_child = 0;  // for each of its children in this direction
  std::uint32_t (*children)(TreeShape, std::uint32_t members, std::uint32_t distance) = nullptr;

  double at(const ExchangeTree& tree, std::uint32_t members, std::uint32_t distance) const {
    return (distance == 0 ? 0 : own) + children(tree.shape, members, distance) * per_child;
  }
};

// Bytes of the busiest member if roots alternate. In as many buckets as members, each member has
// each distance once, and every member but the root has a parent. In the remaining buckets it has
// neighbouring distances.
double in_turns(const DistanceBytes& bytes, const ExchangeTree& tree, const ExchangeWork& work) {
  const std::uint32_t n = work.agents;
  const std::uint32_t turns = work.buckets / n;  // whole ones
  const double all = (n - 1.0) * (bytes.own + bytes.per_child) * turns;
  const std::uint32_t rest = work.buckets % n;
  if (rest == 0) return all;
  double run = 0;
  for (std::uint32_t d = 0; d < rest; ++d) run += bytes.at(tree, n, d);
  double most = run;
  for (std::uint32_t d = 0; d < n; ++d) {
    run += bytes.at(tree, n, (d + rest) % n) - bytes.at(tree, n, d);
    most = std::max(most, run);
  }
  return all + most;
}

double busiest_member(const DistanceBytes& bytes, const ExchangeTree& tree, std::uint32_t members) {
  double most = 0;
  for (std::uint32_t d = 1; d < members; ++d) most = std::max(most, bytes.at(tree, members, d));
  return most;
}

Traffic traffic_of(const ExchangeTree& tree, const ExchangeWork& work, double up, double down) {
  const DistanceBytes out = {.own = up, .per_child = down, .children = children_down};
  const DistanceBytes in = {.own = down, .per_child = up, .children = children_up};
  if (tree.owners_take_turns) {
    const double sent = in_turns(out, tree, work);
    const double received = in_turns(in, tree, work);
    return {.root_out = sent, .root_in = received, .other_out = sent, .other_in = received};
  }
  const double buckets = work.buckets;
  return {.root_out = buckets * out.at(tree, work.agents, 0),
          .root_in = buckets * in.at(tree, work.agents, 0),
          .other_out = buckets * busiest_member(out, tree, work.agents),
          .other_in = buckets * busiest_member(in, tree, work.agents)};
}

// Number of levels of a binomial tree; the last one may have gaps.
double levels(std::uint32_t members) {
  double count = 0;
  for (std::uint32_t reach = 1; reach < members; reach <<= 1) ++count;
  return count;
}

// Time in which a port has less work than later, because the first sums are not complete yet.
double start_s(TreeShape shape, std::uint32_t members, double port_s) {
  switch (shape) {
    case TreeShape::direct:
      return (members - 2.0) / members * port_s;
    case TreeShape::chain:
      return 0;
    case TreeShape::binomial:
      return levels(members) * (levels(members) - 1) / 2 * port_s;
  }
  return 0;
}

StageTime reduced(const ExchangeTree& tree, const ExchangeWork& work, const StagePayload& stage,
                  const LinkEstimate& link) {
  const double up_s = stage.up_bytes * link.beta_s_per_byte;
  const double down_s = stage.down_bytes * link.beta_s_per_byte;
  StageTime time = {.traffic = traffic_of(tree, work, stage.up_bytes, stage.down_bytes),
                    .alone_s = time_up(tree.shape, work.agents, up_s, link.alpha_s) +
                               time_down(tree.shape, work.agents, down_s, link.alpha_s),
                    .one_root = !tree.owners_take_turns};
  if (time.one_root) {
    // A port serves the member that floods it, while sums wait for the others, so traffic up and
    // down overlaps only in part. The coefficients were fitted to the simulation and to
    // measurements with sockets.
    if (hops(tree.shape, work.agents) > 1) {
      time.pace_s = (0.75 * levels(work.agents) - 0.25) * (up_s + down_s);
    }
    return time;
  }
  const std::uint32_t behind = (work.buckets - 1) / work.agents;
  const bool binomial = tree.shape == TreeShape::binomial;
  time.lost_s = (binomial ? hops(tree.shape, work.agents) : 1) * link.alpha_s +
                start_s(tree.shape, work.agents, std::min(up_s, down_s));
  time.behind_s = behind * leaves(tree.shape, work.agents) * std::max(up_s, down_s);
  return time;
}

StageTime from_root(const ExchangeTree& tree, const ExchangeWork& work, double bytes,
                    const LinkEstimate& link) {
  const ExchangeTree fixed = {tree.shape, false};
  const double port_s = bytes * link.beta_s_per_byte;
  return {.traffic = traffic_of(fixed, work, 0, bytes),
          .alone_s = time_down(tree.shape, work.agents, port_s, link.alpha_s),
          .behind_s = (work.buckets - 1.0) * children_down(tree.shape, work.agents, 0) * port_s,
          .one_root = true};
}

// The link as payloads of this size see it: the latency contains their last frame's time on the
// second link.
LinkEstimate with_frame(const ExchangeNetwork& network, double payload_bytes) {
  LinkEstimate link = network.agents;
  link.alpha_s += std::min(network.frame_bytes, payload_bytes) * link.beta_s_per_byte;
  return link;
}

// In a ring whose members wait for one root's indices, no sums finish at the same time, as they
// would if all began together. The path of the last bucket up and down remains visible, except for
// the work of its own ports. The formula was derived from the simulation and equals it if there are
// a few buckets per owner.
double lost_behind_places_s(const ExchangeWork& work, const ExchangeNetwork& network) {
  const auto with = [&](StageFlow flow) {
    return std::ranges::find(work.stages, flow, &StagePayload::flow);
  };
  const auto places = with(StageFlow::from_root);
  const auto sums = with(StageFlow::reduced);
  if (work.agents < 3 || places == work.stages.end() || sums == work.stages.end()) return 0;
  const LinkEstimate link = with_frame(network, sums->up_bytes);
  const double n = work.agents;
  const double places_s = places->up_bytes * link.beta_s_per_byte;
  const double sum_s = std::max(sums->up_bytes, sums->down_bytes) * link.beta_s_per_byte;
  // Buckets beyond a whole number per owner.
  const std::uint32_t uneven = work.buckets % work.agents;
  const double sooner_s = std::min(uneven, work.agents - 1 - uneven) * sum_s;
  return (n - 2) * sum_s + (n - 3) * std::max(sum_s, places_s) + places_s - sooner_s +
         (2 * n - 3) * link.alpha_s;
}

StageTime gathered(const ExchangeTree& tree, const ExchangeWork& work, double bytes,
                   const LinkEstimate& link) {
  const double all = bytes * work.buckets * (work.agents - 1);
  const double port_s = bytes * link.beta_s_per_byte;
  const double latency_s = hops(tree.shape, work.agents) * link.alpha_s;
  return {.traffic = {.root_out = all, .root_in = all, .other_out = all, .other_in = all},
          .lost_s = link.alpha_s,
          .alone_s = (work.agents - 1) * port_s + latency_s,
          .behind_s = (work.buckets - 1) * port_s};
}

// Whether every member receives the payloads of all members.
bool gathers(wire::Collective kind, const StagePayload& stage) {
  if (kind == wire::Collective::star || stage.flow == StageFlow::from_root) return false;
  return kind == wire::Collective::all_gather || stage.flow == StageFlow::gathered;
}

StageTime peer_stage(wire::Collective kind, const ExchangeWork& work, const StagePayload& stage,
                     const ExchangeNetwork& network) {
  const LinkEstimate link = with_frame(network, stage.up_bytes);
  const ExchangeTree tree = tree_of(kind).value_or(ExchangeTree());
  if (stage.flow == StageFlow::from_root) return from_root(tree, work, stage.up_bytes, link);
  if (gathers(kind, stage)) {
    return gathered(tree, work, stage.up_bytes, link);
  }
  return reduced(tree, work, stage, link);
}

// In a star, all payloads share the coordinator's port. alone_s is the path of one bucket: up, then
// down.
StageTime star_stage(const ExchangeWork& work, const StagePayload& stage,
                     const ExchangeNetwork& network) {
  const bool broadcast = stage.flow == StageFlow::from_root;
  const double n = work.agents;
  const double up = stage.up_bytes;
  const double down = broadcast ? up : stage.down_bytes;
  const double in = broadcast ? up : n * up;
  const double out = broadcast ? (n - 1) * up : n * down;
  const double agent_s = network.agents.beta_s_per_byte;
  const double hub_s = network.hub.beta_s_per_byte;
  const double buckets = work.buckets;
  // The faster link's frame, up and down.
  const double frames_s = 2 * std::min(network.frame_bytes, up) * std::min(agent_s, hub_s);
  return {.traffic = {.root_out = out * buckets,
                      .root_in = in * buckets,
                      .other_out = up * buckets,
                      .other_in = down * buckets},
          .alone_s = 2 * network.hub.alpha_s + frames_s + std::max(up * agent_s, in * hub_s) +
                     std::max(down * agent_s, out * hub_s),
          .one_root = true};
}

// Time of the busiest port; sending and receiving do not share a port's rate.
double port_s(const Traffic& traffic, double root_s, double other_s) {
  return std::max(std::max(traffic.root_out, traffic.root_in) * root_s,
                  std::max(traffic.other_out, traffic.other_in) * other_s);
}

// Decoding time of a bucket at each agent. If payloads are not combined, the first is decoded and
// the others are added to it. Codecs that gather add at the cost of an aggregator; with other
// codecs each payload is decoded and then added over all values.
double decode_s(wire::Collective kind, const ExchangeWork& work) {
  const StagePayload& last = work.stages.back();
  if (!gathers(kind, last)) return work.decode_s;
  const bool as_combined = last.flow == StageFlow::gathered;
  const double add_s =
      as_combined ? last.aggregate_s : work.decode_s + std::max(work.decode_s, last.aggregate_s);
  return work.decode_s + (work.agents - 1) * add_s;
}

// Seconds of one core per bucket.
struct Compute {
  double total_s = 0;    // sum over all agents
  double busiest_s = 0;  // the busiest agent
  double hub_s = 0;
  double path_s = 0;  // the sequential part on the path of one bucket

  Compute& operator+=(const Compute& more) {
    total_s += more.total_s;
    busiest_s += more.busiest_s;
    hub_s += more.hub_s;
    path_s += more.path_s;
    return *this;
  }
};

// A direct owner adds one payload while the next arrives, so only the last addition of a bucket
// delays it.
Compute stage_compute(wire::Collective kind, const ExchangeWork& work, const StagePayload& stage) {
  const double n = work.agents;
  const double encode_s = stage.encode_s;
  const double add_s = stage.aggregate_s;
  if (stage.flow == StageFlow::from_root) {
    return {.total_s = encode_s, .busiest_s = encode_s, .path_s = encode_s};
  }
  if (kind == wire::Collective::star) {
    return {.total_s = n * encode_s,
            .busiest_s = encode_s,
            .hub_s = n * add_s,
            .path_s = encode_s + add_s};
  }
  if (gathers(kind, stage)) {
    return {.total_s = n * encode_s, .busiest_s = encode_s, .path_s = encode_s};
  }
  const ExchangeTree tree = tree_of(kind).value_or(ExchangeTree());
  const double adds = tree.owners_take_turns ? 1 : 1 + children_up(tree.shape, work.agents, 0);
  return {.total_s = n * (encode_s + add_s),
          .busiest_s = encode_s + adds * add_s,
          .path_s = encode_s + hops(tree.shape, work.agents) * add_s};
}

// Sending and receiving the payloads of one stage of a bucket.
Compute stage_messages(wire::Collective kind, const ExchangeWork& work, const StagePayload& stage) {
  const double n = work.agents;
  const bool broadcast = stage.flow == StageFlow::from_root;
  const double slow = work.agent_slowdown;
  const double up_s = slow * (work.message_s + work.byte_s * stage.up_bytes);
  const double down_s = broadcast ? up_s : slow * (work.message_s + work.byte_s * stage.down_bytes);
  if (kind == wire::Collective::star) {
    const double each_s = broadcast ? up_s : up_s + down_s;
    return {.total_s = n * each_s,
            .busiest_s = each_s,
            .hub_s = n * each_s / slow,
            .path_s = (1 + 1 / slow) * (up_s + down_s)};
  }
  const ExchangeTree tree = tree_of(kind).value_or(ExchangeTree());
  const double ends = 2 * hops(tree.shape, work.agents);
  const double down = children_down(tree.shape, work.agents, 0);
  if (broadcast) {
    return {.total_s = 2 * (n - 1) * up_s, .busiest_s = down * up_s, .path_s = ends * up_s};
  }
  if (gathers(kind, stage)) {
    return {
        .total_s = 2 * n * (n - 1) * up_s, .busiest_s = 2 * (n - 1) * up_s, .path_s = ends * up_s};
  }
  const double both_s = up_s + down_s;
  const double busiest_s = tree.owners_take_turns
                               ? 2 * (n - 1) / n * both_s
                               : down * down_s + children_up(tree.shape, work.agents, 0) * up_s;
  return {.total_s = 2 * (n - 1) * both_s, .busiest_s = busiest_s, .path_s = ends * both_s};
}

// An agent works in one thread, so more than one core does not help.
Compute compute_of(wire::Collective kind, const ExchangeWork& work) {
  const double each_s = decode_s(kind, work);
  Compute all = {.total_s = work.agents * each_s, .busiest_s = each_s, .path_s = each_s};
  for (const StagePayload& stage : work.stages) {
    all += stage_compute(kind, work, stage);
    all += stage_messages(kind, work, stage);
  }
  return all;
}

// The CPU bound of an exchange: the average over the available cores, or the busiest single thread.
double compute_s(const ExchangeWork& work, const Compute& per_bucket, double cores) {
  return work.buckets * std::max({per_bucket.total_s / work.agents / cores, per_bucket.busiest_s,
                                  per_bucket.hub_s});
}

// The time until the last bucket's first payload is encoded, after those of the others. All members
// encode at the same time, unless the payload is one root's, which then has a core to itself.
double encode_behind_s(const ExchangeWork& work, double cores) {
  const StagePayload& first = work.stages.front();
  const double share = first.flow == StageFlow::from_root ? 1 : cores;
  return (work.buckets - 1.0) * first.encode_s / share;
}

}  // namespace

ExchangeCost predict_exchange(wire::Collective kind, const ExchangeWork& work,
                              const ExchangeNetwork& network) {
  ExchangeCost cost = {.kind = kind};
  const bool star = kind == wire::Collective::star;
  if ((work.agents < 2 && !star) || work.buckets == 0 || work.stages.empty()) return cost;
  const double other_s = network.agents.beta_s_per_byte;
  const double root_s = star ? network.hub.beta_s_per_byte : other_s;
  const double buckets = work.buckets;
  Traffic traffic;
  Traffic of_one_root;
  double lost_s = 0;
  double alone_s = 0;
  double behind_s = 0;
  double pace_s = 0;
  for (const StagePayload& stage : work.stages) {
    const StageTime time =
        star ? star_stage(work, stage, network) : peer_stage(kind, work, stage, network);
    traffic += time.traffic;
    if (time.one_root) of_one_root += time.traffic;
    lost_s += time.one_root ? time.alone_s : time.lost_s;
    alone_s += time.alone_s;
    behind_s += time.behind_s;
    pace_s += time.pace_s;
  }
  // The port's work for a bucket is already part of the total work, so it is not idle time.
  lost_s -= std::max(port_s(of_one_root, root_s, other_s) / buckets, pace_s);
  if (kind == wire::Collective::ring) {
    lost_s = std::max(lost_s, lost_behind_places_s(work, network));
  }
  const Compute compute = compute_of(kind, work);
  const double cores = std::clamp(work.cores, kCoresMin, 1.0);
  const double ports_s = std::max(port_s(traffic, root_s, other_s), buckets * pace_s);
  behind_s = std::max(behind_s, encode_behind_s(work, cores));
  // While one bucket is on its way, members compute for others, so the idle time of ports is none
  // of theirs.
  cost.seconds = std::max({ports_s + lost_s, compute_s(work, compute, cores), alone_s + behind_s}) +
                 compute.path_s / cores;
  cost.bytes_sent = std::max(traffic.other_out, star ? 0 : traffic.root_out);
  cost.bytes_received = std::max(traffic.other_in, star ? 0 : traffic.root_in);
  if (star) {
    cost.hub_bytes_sent = traffic.root_out;
    cost.hub_bytes_received = traffic.root_in;
  }
  return cost;
}

ExchangeCost predict_in_network(const ExchangeWork& work, const ExchangeNetwork& network,
                                const LinkEstimate& link) {
  ExchangeCost cost = {.kind = wire::Collective::in_network};
  if (work.agents < 2 || work.buckets == 0 || work.stages.empty()) return cost;
  ExchangeWork before = work;
  before.stages = work.stages.first(work.stages.size() - 1);
  before.decode_s = 0;
  if (!before.stages.empty()) cost = predict_exchange(wire::Collective::star, before, network);
  cost.kind = wire::Collective::in_network;
  const StagePayload& last = work.stages.back();
  const double buckets = work.buckets;
  const double port_s = buckets * std::max(last.up_bytes, last.down_bytes) * link.beta_s_per_byte;
  const double each_s = (last.encode_s + work.decode_s) / std::clamp(work.cores, kCoresMin, 1.0);
  cost.seconds += 2 * link.alpha_s + std::max(port_s, buckets * each_s) + each_s;
  cost.bytes_sent += buckets * last.up_bytes;
  cost.bytes_received += buckets * last.down_bytes;
  return cost;
}

namespace {

// The uploads of one stage's results by the busiest member.
struct Uploads {
  double segments = 0;
  double bytes = 0;
  bool by_owner = true;  // only the owner of a sum uploads it
};

Uploads uploads_of(const ExchangeWork& work, double bytes) {
  const double segments = upload_segments(bytes, work.agents);
  const std::uint32_t turns = work.buckets / work.agents;  // whole ones
  const double rest = work.buckets % work.agents;
  const double own = turns * segments + std::min(rest, segments);
  return {.segments = own, .bytes = own * bytes / segments, .by_owner = segments == 1};
}

// With all_gather, codecs that encode again at an aggregator are not combined either. They count as
// combined here, because no stage says which codecs do so, and all_gather is never their best
// collective.
double result_bytes(const StagePayload& stage, std::uint32_t agents) {
  if (stage.flow == StageFlow::from_root) return stage.up_bytes;
  return stage.flow == StageFlow::gathered ? agents * stage.up_bytes : stage.down_bytes;
}

// The segments that a member uploads of one stage's results. A member has a segment of bucket b,
// one after the last whole turn, if (member - b) modulo `agents` is below `segments`.
double segments_of(const ExchangeWork& work, std::uint32_t segments, std::uint32_t member) {
  const std::uint32_t turns = work.buckets / work.agents;  // whole ones
  const std::uint32_t rest = work.buckets % work.agents;
  const std::uint32_t first = member + 1 > segments ? member + 1 - segments : 0;
  const std::uint32_t last = std::min(member + 1, rest);
  const std::uint32_t wrapped = member + work.agents + 1 - segments;
  const std::uint32_t own =
      (last > first ? last - first : 0) + (rest > wrapped ? rest - wrapped : 0);
  return turns * static_cast<double>(segments) + own;
}

Uploads uploads_of(const ExchangeWork& work) {
  Uploads all;
  for (const StagePayload& stage : work.stages) {
    const Uploads uploads = uploads_of(work, result_bytes(stage, work.agents));
    all.segments = std::max(all.segments, uploads.segments);
    all.bytes += uploads.bytes;
    all.by_owner &= uploads.by_owner && stage.flow != StageFlow::gathered;
  }
  return all;
}

}  // namespace

double upload_segments(double result_bytes, std::uint32_t agents) {
  return std::clamp(std::floor(result_bytes / kUploadSegmentBytesMin), 1.0,
                    static_cast<double>(std::max(agents, 1u)));
}

double settled_bytes(const ExchangeWork& work) { return uploads_of(work).bytes; }

double settled_bytes(const ExchangeWork& work, std::uint32_t member) {
  double bytes = 0;
  for (const StagePayload& stage : work.stages) {
    const double result = result_bytes(stage, work.agents);
    const double segments = upload_segments(result, work.agents);
    bytes += segments_of(work, static_cast<std::uint32_t>(segments), member) * result / segments;
  }
  return bytes;
}

// At best a member's buckets are complete at equal intervals, and the owner of a sum uploads it
// halfway, before its result has gone down. Others upload their segments at the end. Buckets that
// are exchanged side by side are complete later than that. Half of the best overlap agrees with the
// truth of the closed loop within a fifth.
double with_upload_s(const ExchangeWork& work, double exchange_s, double uplink_s_per_byte,
                     double peers_s_per_byte) {
  const Uploads uploads = uploads_of(work);
  const double all_s = uploads.bytes * uplink_s_per_byte;
  if (peers_s_per_byte >= uplink_s_per_byte) return exchange_s + all_s;
  const double turns = uploads.segments;
  const double interval_s = exchange_s / turns;
  const double sooner_s = uploads.by_owner ? interval_s / 2 : 0;
  const double best_s =
      std::max({exchange_s, interval_s - sooner_s + all_s, exchange_s - sooner_s + all_s / turns});
  const double share = (1 - peers_s_per_byte / uplink_s_per_byte) / 2;
  return exchange_s + all_s - share * (exchange_s + all_s - best_s);
}

}  // namespace tributary
