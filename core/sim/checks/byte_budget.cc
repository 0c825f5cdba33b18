#include "core/sim/checks/byte_budget.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/sim/checks/ledger.h"

namespace tributary {
namespace {

// Time for which a disturbance can cause repetitions: a timer may have to expire first.
constexpr TimeNs kSettleNs = 5'000'000'000;
// Number of rounds behind the last commit whose bytes are still known, for agents that are behind.
constexpr std::uint64_t kRoundsKept = 4;
constexpr std::size_t kDownloadsMax = 8;  // downloads and offers that are remembered

}  // namespace

ByteBudget::Tally& ByteBudget::Tally::operator+=(const Tally& other) {
  checked += other.checked;
  exempt += other.exempt;
  sessions_lost += other.sessions_lost;
  bytes += other.bytes;
  repeated += other.repeated;
  times_max = std::max(times_max, other.times_max);
  return *this;
}

// --- what is sent --------------------------------------------------------------------------------

// Frames that open or end a session change the state of the agent. Frames with payload bytes are
// counted.
void ByteBudget::sent(std::uint32_t agent, Direction direction, const wire::Frame& frame,
                      TimeNs now) {
  Watched& watched = agents_[agent];
  if (direction == up && frame.message_type() == wire::Message::Hello) {
    return session_lost(agent, now);
  }
  if (direction == up && frame.message_type() == wire::Message::Leave) {
    return connection_changed(agent, now);
  }
  if (watched.away && frame.session() != 0) {
    watched.sessions[direction] = frame.session();
    // Before its first session an agent has nothing to repeat, so it counts from the coordinator's
    // first frame on.
    const bool first = !watched.joined && direction == down;
    watched.away = !first && watched.sessions[up] != watched.sessions[down];
    if (!watched.away) {
      const TimeNs quiet_at_ns = std::exchange(watched.joined, true) ? now + kSettleNs : now;
      watched.quiet_at_ns = std::max(watched.quiet_at_ns, quiet_at_ns);
    }
  }
  switch (frame.message_type()) {
    case wire::Message::Preliminary:
      return count_part(watched, direction, frame.message_type(),
                        *frame.message_as_Preliminary()->part(), now);
    case wire::Message::Update:
      return count_part(watched, direction, frame.message_type(),
                        *frame.message_as_Update()->part(), now);
    case wire::Message::Aggregate:
      return count_part(watched, direction, frame.message_type(),
                        *frame.message_as_Aggregate()->part(), now);
    case wire::Message::TransferOffer:
      return offered(watched, *frame.message_as_TransferOffer());
    case wire::Message::TransferPart: {
      const wire::TransferPart& part = *frame.message_as_TransferPart();
      return count_download(watched, part.transfer(), {part.offset(), part.payload_bytes()}, now);
    }
    default:
      return;
  }
}

void ByteBudget::count_part(Watched& agent, Direction direction, wire::Message kind,
                            const wire::Part& part, TimeNs now) {
  add(agent, agent.rounds[direction][key_of(*part.id())],
      {kind, part.bucket(), part.stage(), part.segment()}, {part.offset(), part.payload_bytes()},
      now);
}

void ByteBudget::offered(Watched& agent, const wire::TransferOffer& offer) {
  const auto known = std::ranges::find(agent.offers, offer.transfer(), &Offer::transfer);
  if (known != agent.offers.end()) return;
  agent.offers.push_back({offer.transfer(), offer.hash()});
  if (agent.offers.size() > kDownloadsMax) agent.offers.pop_front();
}

// The offer connects a transfer to the model's hash. Without one the transfer's number identifies
// the download.
void ByteBudget::count_download(Watched& agent, std::uint64_t transfer, ByteRange range,
                                TimeNs now) {
  const auto offer = std::ranges::find(agent.offers, transfer, &Offer::transfer);
  const std::uint64_t hash = offer == agent.offers.end() ? transfer : offer->hash;
  auto download = std::ranges::find(agent.downloads, hash, &Download::hash);
  if (download == agent.downloads.end()) {
    agent.downloads.push_back({.hash = hash, .record = {}});
    download = std::prev(agent.downloads.end());
  }
  add(agent, download->record, {wire::Message::TransferPart, 0, 0, 0}, range, now);
}

// Adds a range of bytes and the part of it that was not sent before.
void ByteBudget::add(const Watched& agent, Record& record, const PayloadKey& key, ByteRange range,
                     TimeNs now) {
  // Bytes that were not sent before.
  const std::uint64_t different = record.payloads[key].add(range);
  if (different < range.count && record.repeated_at_ns == 0) record.repeated_at_ns = now;
  record.sent += range.count;
  record.different += different;
  record.exempt = record.exempt || !quiet(agent, now);
}

// --- what excuses a repeat -----------------------------------------------------------------------

// Allows repetitions for a while, and exempts everything that is in progress.
void ByteBudget::disturbed(std::uint32_t agent, TimeNs now) {
  Watched& watched = agents_[agent];
  if (watched.joined) watched.quiet_at_ns = std::max(watched.quiet_at_ns, now + kSettleNs);
  for (auto& rounds : watched.rounds) {
    for (auto& [key, record] : rounds) record.exempt = true;
  }
  for (Download& download : watched.downloads) download.record.exempt = true;
}

void ByteBudget::connection_changed(std::uint32_t agent, TimeNs now) {
  agents_[agent].away = true;
  agents_[agent].sessions = {};
  disturbed(agent, now);
}

void ByteBudget::session_lost(std::uint32_t agent, TimeNs now) {
  if (quiet(agents_[agent], now)) ++tally_.sessions_lost;
  connection_changed(agent, now);
}

// --- comparing -----------------------------------------------------------------------------------

void ByteBudget::committed(std::uint64_t round, TimeNs now) {
  for (std::size_t agent = 0; agent < agents_.size(); ++agent) {
    for (const Direction direction : {up, down}) {
      std::erase_if(agents_[agent].rounds[direction], [&](const auto& each) {
        const auto& [key, record] = each;
        if (key.round >= round) return false;
        compare(agent, direction, text(key), record, now);
        // The record is kept for a while, because agents that are behind may still receive its
        // bytes.
        const bool over = key.round + kRoundsKept < round;
        if (over) close(record);
        return over;
      });
    }
    compare_downloads(agent, 1, now);
  }
}

void ByteBudget::finish(TimeNs now) {
  committed(UINT64_MAX, now);
  for (std::size_t agent = 0; agent < agents_.size(); ++agent) compare_downloads(agent, 0, now);
}

// Compares all downloads except the last `kept`, which may still receive bytes.
void ByteBudget::compare_downloads(std::size_t agent, std::size_t kept, TimeNs now) {
  std::deque<Download>& downloads = agents_[agent].downloads;
  for (std::size_t i = 0; i + kept < downloads.size(); ++i) {
    compare(agent, down, fmt::format("download of model {:016x}", downloads[i].hash),
            downloads[i].record, now);
  }
  while (downloads.size() > (kept == 0 ? 0 : kDownloadsMax)) {
    close(downloads.front().record);
    downloads.pop_front();
  }
}

// Adds the final numbers of a round or download to the totals.
void ByteBudget::close(const Record& record) {
  if (record.exempt) {
    ++tally_.exempt;
    return;
  }
  ++tally_.checked;
  tally_.bytes += record.sent;
  tally_.repeated += record.sent - record.different;
  if (record.sent == 0) return;
  const double times = static_cast<double>(record.sent) / static_cast<double>(record.different);
  tally_.times_max = std::max(tally_.times_max, times);
}

// Reports a violation if too many bytes were repeated without a disturbance.
void ByteBudget::compare(std::size_t agent, Direction direction, const std::string& what,
                         const Record& record, TimeNs now) {
  if (record.exempt || record.sent == 0) return;
  const auto sent = static_cast<double>(record.sent);
  const auto different = static_cast<double>(record.different);
  if (sent <= kTimesMax * different + static_cast<double>(kBytesMore)) return;
  watch_.report(
      now, "bytes",
      fmt::format("{}, {}, {}: {} payload bytes were sent for {} different ones; {} times as many "
                  "and {} more are allowed. The first repeat was at {:.3f} s",
                  Ledger::agent_name(static_cast<std::uint32_t>(agent)),
                  direction == up ? "up" : "down", what, record.sent, record.different, kTimesMax,
                  kBytesMore, static_cast<double>(record.repeated_at_ns) * 1e-9));
}

}  // namespace tributary
