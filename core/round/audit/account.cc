#include "core/round/audit/account.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/base/bytes/checksum.h"

namespace tributary {
namespace {

// Number of recent updates and settlements that a crash can undo. It is more than a machine handles
// before it stores them: a batch has several, and another one may follow while the disk fails.
constexpr std::size_t kRecentMax = 16;

Status broken(std::string what, std::string expected, std::string got) {
  return Status(StatusCode::mismatch, {.what = std::move(what),
                                       .expected = std::move(expected),
                                       .got = std::move(got),
                                       .remedy = {}});
}

}  // namespace

// open_ is the sum of all updates taken minus everything that commits have given away, in double.
// moved_ is the sum of the magnitudes, from which the bound for rounding errors is computed.
Account::Account(std::uint64_t values) : open_(values), moved_(values) {}

// The payload of the latest earlier attempt is the one that continues.
void Account::continue_payload(const RoundKey& key, std::uint32_t bucket,
                               std::uint64_t encoded_round) {
  const Payload* before = nullptr;
  RoundKey at{};
  for (const auto* const all : {&contributions_, &settled_lately_}) {
    for (const auto& [other, contribution] : *all) {
      const auto found = contribution.payloads.find(bucket);
      if (other.job != key.job || other.round < encoded_round || !(other < key) ||
          found == contribution.payloads.end() || (before && other < at)) {
        continue;
      }
      before = &found->second;
      at = other;
    }
  }
  if (before) contributions_[key].payloads[bucket] = Payload(*before);
}

Status Account::sent(const RoundKey& key, const wire::Part& part, const PayloadSlice& payload,
                     std::uint64_t encoded_round) {
  Contribution& contribution = this->contribution(key);
  if (encoded_round > 0 && !contribution.payloads.contains(part.bucket())) {
    continue_payload(key, part.bucket(), encoded_round);
  }
  Payload& known = contribution.payloads[part.bucket()];
  const std::string what = fmt::format("{}, bucket {}", text(key), part.bucket());
  const std::uint64_t bytes = part.stage_bytes();
  const ByteRange range = {part.offset(), payload.bytes.size()};
  if (range.first > bytes || range.count > bytes - range.first) {
    return broken(what, fmt::format("a part of {} bytes", bytes),
                  fmt::format("{} bytes from {} on", range.count, range.first));
  }
  if (known.bytes.value_or(bytes) != bytes) {
    return broken(what, fmt::format("a payload of {} bytes, as before", *known.bytes),
                  fmt::format("one of {}", bytes));
  }
  known.bytes = bytes;
  // A byte that is sent twice must be the same byte: the coordinator may have combined either copy.
  for (const ByteRange& again : known.there.overlap(range)) {
    const ByteSpan before = known.view().subspan(again.first, again.count);
    const ByteSpan now = payload.bytes.subspan(again.first - range.first, again.count);
    if (before.data() != now.data() && !std::ranges::equal(before, now)) {
      return broken(what, "the payload sent before", "another payload");
    }
  }
  if (known.there.add(range) == 0) return {};
  if (range.count == bytes && known.assembled.empty()) {
    known.whole = payload;
    return {};
  }
  known.assembled.resize(bytes);
  std::ranges::copy(payload.bytes,
                    known.assembled.begin() + static_cast<Bytes::difference_type>(range.first));
  return {};
}

ByteSpan Account::payload(const RoundKey& key, std::uint32_t bucket) const {
  const auto contribution = contributions_.find(key);
  if (contribution == contributions_.end()) return {};
  const auto found = contribution->second.payloads.find(bucket);
  if (found == contribution->second.payloads.end()) return {};
  const Payload& payload = found->second;
  return payload.bytes && payload.there.from_start() >= *payload.bytes ? payload.view()
                                                                       : ByteSpan();
}

// A settled contribution stays the same one. An upload may outlive its round, and a later round
// then continues it. A record that was pushed before the settlement may be stored after it, if the
// disk failed in between.
Account::Contribution& Account::contribution(const RoundKey& key) {
  const auto settled = settled_lately_.find(key);
  return settled == settled_lately_.end() ? contributions_[key] : settled->second;
}

void Account::gave(const RoundKey& key, std::uint32_t bucket, Given given) {
  contribution(key).given[bucket] = std::move(given);
}

const Account::Given* Account::given(const RoundKey& key, std::uint32_t bucket) const {
  const auto contribution = contributions_.find(key);
  if (contribution == contributions_.end()) return nullptr;
  const auto found = contribution->second.given.find(bucket);
  return found == contribution->second.given.end() ? nullptr : &found->second;
}

// The amount that a commit takes from the residual: the values held now minus the rest.
Account::Given given_away(const ContributionRecord& record, const ContributionPart& part) {
  Account::Given given{.values = FloatVector(part.values, 0.0f)};
  const auto at = [&](const SharedFloats& values, std::uint64_t place) {
    return values && place < values->size() ? (*values)[place] : 0.0f;
  };
  for (std::uint64_t i = 0; i < part.values; ++i) {
    const float held = at(record.encoded, part.first_value + i);
    const float left = at(part.if_committed, i);
    given.values[i] = held - left;
    given.magnitude_max = std::max<double>(given.magnitude_max, std::abs(held) + std::abs(left));
  }
  return given;
}

Status Account::committed(const RoundKey& key, std::uint64_t first_value, FloatVector decoded) {
  if (settled_against_.contains(key)) {
    return broken(fmt::format("{}: committed with this agent in it", text(key)),
                  "a round that the agent counts or has not decided",
                  "a round that does not count, whose update the agent keeps for later");
  }
  contributions_[key].decoded.emplace_back(first_value, std::move(decoded));
  return {};
}

void Account::round_is_decided(const RoundKey& key) {
  std::erase_if(settled_against_, [&](const RoundKey& other) {
    return other.job == key.job && other.round <= key.round;
  });
  std::erase_if(contributions_, [&](const auto& item) {
    return item.second.written_off && item.first.job == key.job && item.first.round <= key.round;
  });
}

// The payloads stay until their rounds are decided: the coordinator may have all of them.
void Account::write_off(std::uint64_t updates_taken) {
  for (double& value : open_) written_off_ += std::abs(std::exchange(value, 0.0));
  std::ranges::fill(moved_, 0.0);
  for (auto& [key, contribution] : contributions_) {
    contribution.written_off = true;
    contribution.updates = 0;
    contribution.undone.clear();
  }
  settled_lately_.clear();
  dropped_.clear();
  recent_.clear();
  offered_.reset();
  taken_ = durable_ = updates_taken;
}

void Account::revoked(const RoundKey& key) {
  if (const auto open = contributions_.find(key); open != contributions_.end()) {
    open->second.decoded.clear();
  }
  if (const auto settled = settled_lately_.find(key); settled != settled_lately_.end()) {
    settled->second.revoked = true;
  }
}

// An upload may outlive its round: its other parts are sent in a later one.
void Account::forget(const RoundKey& key) {
  for (auto it = contributions_.begin(); it != contributions_.end();) {
    const auto next = std::next(it);
    if (it->first.round <= key.round) {
      it->second.given.clear();
      it->second.decoded.clear();
      keep_settled(it);
    }
    it = next;
  }
}

void Account::keep_settled(std::map<RoundKey, Contribution>::iterator contribution) {
  settled_lately_.insert(contributions_.extract(contribution));
  if (settled_lately_.size() > kRecentMax) settled_lately_.erase(settled_lately_.begin());
}

void Account::add(std::span<const float> update, double sign) {
  for (std::size_t i = 0; i < update.size(); ++i) {
    open_[i] += sign * static_cast<double>(update[i]);
    moved_[i] += std::abs(static_cast<double>(update[i]));
  }
}

void Account::rescale(double factor, const std::vector<UndecidedRound>& undecided) {
  unsettle(undecided);
  settle(undecided);
  for (double& value : open_) value *= factor;
  for (double& value : moved_) value *= std::abs(factor);
}

void Account::take_one(SharedFloats update) {
  add(*update, 1);
  recent_.push_back(std::move(update));
  if (recent_.size() > kRecentMax) recent_.pop_front();
  ++taken_;
}

// A counted contribution contains updates that the end of the process has undone. They are taken
// again, with the values of the buckets that count.
void Account::take_undone(std::uint64_t updates_taken) {
  for (const auto& [key, contribution] : contributions_) {
    if (contribution.decoded.empty() || contribution.undone.empty() ||
        contribution.undone_after != taken_ || contribution.updates != updates_taken) {
      continue;
    }
    for (const SharedFloats& update : contribution.undone) {
      auto counted = std::make_shared<FloatVector>(update->size(), 0.0f);
      for (const auto& [first, decoded] : contribution.decoded) {
        const std::span<const float> run =
            std::span<const float>(*update).subspan(first, decoded.size());
        std::ranges::copy(run, counted->begin() + static_cast<std::ptrdiff_t>(first));
      }
      take_one(std::move(counted));
    }
    return;
  }
}

// Every stored contribution remembers which of its updates are undone, because any of them may turn
// out to count.
void Account::undo(std::uint64_t updates_taken) {
  for (auto* const all : {&contributions_, &settled_lately_}) {
    for (auto& [key, contribution] : *all) {
      if (contribution.updates <= updates_taken || !contribution.undone.empty()) continue;
      const auto first = recent_.end() - static_cast<std::ptrdiff_t>(taken_ - updates_taken);
      const auto end = recent_.end() -
                       static_cast<std::ptrdiff_t>(taken_ - std::min(taken_, contribution.updates));
      contribution.undone.assign(first, end);
      contribution.undone_after = updates_taken;
    }
  }
  for (; taken_ > updates_taken; --taken_) {
    add(*recent_.back(), -1);
    recent_.pop_back();
  }
}

// Four legal transitions: nothing changed, the offered update or dropped values were added, a
// restart lost updates that were never stored, or a contribution with some of those counts.
// Everything else is an update that was counted twice or lost.
Status Account::take(std::uint64_t updates_taken, bool restarted) {
  const std::vector<SharedFloats> dropped = std::exchange(dropped_, {});
  if (updates_taken > taken_ && !restarted) take_undone(updates_taken - dropped.size());
  if (updates_taken == taken_) return {};
  if (updates_taken == taken_ + dropped.size() + 1 && offered_) {
    take_one(std::exchange(offered_, nullptr));
  }
  if (updates_taken == taken_ + dropped.size()) {
    for (const SharedFloats& change : dropped) take_one(change);
    return {};
  }
  const std::uint64_t back = taken_ - updates_taken;
  if (restarted && updates_taken < taken_ && updates_taken >= durable_ && back <= recent_.size()) {
    undo(updates_taken);
    return {};
  }
  const std::string before = restarted ? fmt::format("{} to {}", durable_, taken_)
                                       : fmt::format("{}, or one more", taken_);
  return broken("updates taken", before, fmt::format("{}", updates_taken));
}

void Account::give(const Contribution& contribution, double sign) {
  for (const auto& [first, decoded] : contribution.decoded) {
    for (std::size_t i = 0; i < decoded.size(); ++i) {
      const double value = static_cast<double>(decoded[i]);
      open_[first + i] -= sign * value;
      moved_[first + i] += std::abs(value);
    }
  }
}

// A crash can undo a settlement that the agent had not stored. The round is then undecided again
// and its contribution moves back.
void Account::unsettle(const std::vector<UndecidedRound>& undecided) {
  for (const UndecidedRound& round : undecided) {
    const auto found = settled_lately_.find(round.id);
    if (found == settled_lately_.end()) continue;
    give(found->second, -1);
    if (std::exchange(found->second.revoked, false)) found->second.decoded.clear();
    settled_against_.erase(round.id);
    contributions_.insert(settled_lately_.extract(found));
  }
}

// A round that is not undecided any more is settled: its decoded contribution, if the round
// counted, leaves the account.
void Account::settle(const std::vector<UndecidedRound>& undecided) {
  for (auto it = contributions_.begin(); it != contributions_.end();) {
    const auto next = std::next(it);
    const RoundKey& key = it->first;
    if (!it->second.written_off &&
        std::ranges::find(undecided, key, &UndecidedRound::id) == undecided.end()) {
      if (it->second.decoded.empty()) {
        settled_against_.insert(key);
      } else {
        it->second.given.clear();
      }
      give(it->second, 1);
      ++settled_;
      keep_settled(it);
    }
    it = next;
  }
}

Status Account::check(const float* residual, const std::vector<UndecidedRound>& undecided) {
  unsettle(undecided);
  settle(undecided);
  // Each round adds a few roundings to float, each of at most half of 2^-23 of a value. The bound
  // therefore grows with the number of updates and contributions.
  const double share = static_cast<double>(taken_ + settled_ + 1) * 0x1p-23;
  double worst = 0;
  std::size_t worst_at = 0;
  for (std::size_t i = 0; i < open_.size(); ++i) {
    const double held = residual == nullptr ? 0.0 : static_cast<double>(residual[i]);
    const double error = std::abs(open_[i] - held);
    const double bound = share * moved_[i] + 0x1p-60;
    if (!(error <= worst * bound)) {
      worst = std::isnan(error) ? HUGE_VAL : error / bound;
      worst_at = i;
    }
  }
  error_max_ = std::max(error_max_, worst);
  if (worst <= 1) return {};
  const double held = residual == nullptr ? 0.0 : static_cast<double>(residual[worst_at]);
  return broken(
      fmt::format("value {} after {} updates and {} contributions", worst_at, taken_, settled_),
      fmt::format("a residual of {} within {:.3g}", open_[worst_at], share * moved_[worst_at]),
      fmt::format("{}", held));
}

}  // namespace tributary
