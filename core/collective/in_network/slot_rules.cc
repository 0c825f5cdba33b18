#include "core/collective/in_network/slot_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <utility>

namespace tributary::in_network {
namespace {

Status bad_job(const SlotJob& job, std::string what, std::string expected, std::string got) {
  return Status(StatusCode::invalid_argument,
                {.what = fmt::format("job {} of the aggregator, {}", job.handle, what),
                 .expected = std::move(expected),
                 .got = std::move(got)});
}

Status check_job(const SlotJob& job, std::uint32_t slots) {
  if (job.agents == 0 || job.agents > kAgentsMax) {
    return bad_job(job, "agents", fmt::format("1 to {}", kAgentsMax),
                   fmt::format("{}", job.agents));
  }
  if (job.granularity == 0 || std::uint64_t{job.granularity} * job.agents > 65'535) {
    return bad_job(job, "granularity x agents", "1 to 65535, so that sums have 16 bits",
                   fmt::format("{} x {}", job.granularity, job.agents));
  }
  if (std::ranges::max(job.places) > job.granularity) {
    return bad_job(job, "table", fmt::format("places up to {}", job.granularity),
                   fmt::format("{}", std::ranges::max(job.places)));
  }
  if (job.packet_values % kCountUnit != 0 || job.packet_values > kCountMaxNarrow) {
    return bad_job(job, "values in a packet",
                   fmt::format("a multiple of {} up to {}", kCountUnit, kCountMaxNarrow),
                   fmt::format("{}", job.packet_values));
  }
  if (job.slots == 0 || job.slots > slots) {
    return bad_job(job, "slots", fmt::format("1 to {}", slots), fmt::format("{}", job.slots));
  }
  const bool listed = job.sources.size() == job.agents &&
                      std::ranges::find(job.sources, PacketSource{0}) == job.sources.end();
  if (!job.sources.empty() && !listed) {
    return bad_job(job, "sources", "none, or one for each agent",
                   fmt::format("{}", job.sources.size()));
  }
  return {};
}

}  // namespace

std::uint64_t SlotCounters::dropped() const {
  return std::accumulate(drops.begin(), drops.end(), std::uint64_t{0});
}

Result<SlotRules> SlotRules::make(std::uint32_t slots) {
  if (slots == 0 || slots > kSlotsMax) {
    return Status(StatusCode::invalid_argument, {.what = "slots of the aggregator",
                                                 .expected = fmt::format("1 to {}", kSlotsMax),
                                                 .got = fmt::format("{}", slots)});
  }
  return SlotRules(slots);
}

SlotRules::Job* SlotRules::find(std::uint16_t handle) {
  const std::uint8_t index = job_of_handle_[handle];
  return index == kNoJob ? nullptr : &jobs_[index];
}

const SlotRules::Job* SlotRules::find(std::uint16_t handle) const {
  const std::uint8_t index = job_of_handle_[handle];
  return index == kNoJob ? nullptr : &jobs_[index];
}

std::uint32_t SlotRules::slots_free() const {
  std::uint32_t free = slots();
  for (const Job& job : jobs_) free -= job.setup.slots;
  return free;
}

// The first gap between the other jobs that is large enough. An epoch with the quota of the one
// before keeps its slots.
Result<std::uint32_t> SlotRules::first_free(const SlotJob& requested) const {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> used;
  for (const Job& job : jobs_) {
    if (job.setup.handle != requested.handle) {
      used.emplace_back(job.first_slot, job.setup.slots);
    } else if (job.setup.slots == requested.slots) {
      return job.first_slot;
    }
  }
  std::ranges::sort(used);
  used.emplace_back(slots(), 0);
  std::uint32_t begin = 0;
  for (const auto& [first, count] : used) {
    if (first - begin >= requested.slots) return begin;
    begin = first + count;
  }
  return Status(StatusCode::resource_exhausted,
                {.what = fmt::format("slots for job {} of the aggregator", requested.handle),
                 .expected = fmt::format("{} free in a row", requested.slots),
                 .got = fmt::format("{} free of {}", slots_free(), slots()),
                 .remedy = "lower the job's quota, or give the aggregator more slots"});
}

Status SlotRules::check(const SlotJob& job) const {
  TRIBUTARY_TRY(check_job(job, slots()));
  const Job* const known = find(job.handle);
  if (known != nullptr && job.epoch <= known->setup.epoch) {
    return Status(StatusCode::mismatch,
                  {.what = fmt::format("epoch of job {} of the aggregator", job.handle),
                   .expected = fmt::format("above {}", known->setup.epoch),
                   .got = fmt::format("{}", job.epoch),
                   .remedy = "install a new epoch"});
  }
  if (known == nullptr && jobs_.size() >= kJobsMax) {
    return Status(StatusCode::resource_exhausted, {.what = "jobs of the aggregator",
                                                   .expected = fmt::format("{} at most", kJobsMax),
                                                   .remedy = "remove a job first"});
  }
  return first_free(job).status();
}

Status SlotRules::install(const SlotJob& job) {
  TRIBUTARY_TRY(check(job));
  TRIBUTARY_ASSIGN(const std::uint32_t first, first_free(job));
  Job* known = find(job.handle);
  // Slots that another job had may have the same epoch by chance.
  for (std::uint32_t i = 0; i < job.slots; ++i) slots_[first + i].phases.clear();
  if (known == nullptr) {
    job_of_handle_[job.handle] = static_cast<std::uint8_t>(jobs_.size());
    known = &jobs_.emplace_back();
  }
  *known = {.setup = job,
            .places = Places::of(job.places),
            .wide = job.wide(),
            .count = job.count(),
            .learns = job.sources.empty(),
            .first_slot = first};
  known->setup.sources.resize(job.agents);
  return {};
}

Status SlotRules::remove(std::uint16_t handle) {
  const std::uint8_t index = job_of_handle_[handle];
  if (index == kNoJob) {
    return Status(StatusCode::not_found, {.what = fmt::format("job {} of the aggregator", handle)});
  }
  job_of_handle_[jobs_.back().setup.handle] = index;
  job_of_handle_[handle] = kNoJob;
  std::swap(jobs_[index], jobs_.back());
  jobs_.pop_back();
  return {};
}

std::span<const PacketSource> SlotRules::sources(std::uint16_t handle) const {
  const std::uint8_t index = job_of_handle_[handle];
  return index == kNoJob ? std::span<const PacketSource>() : jobs_[index].setup.sources;
}

// The order matters: all aggregators count the first fault.
DropReason SlotRules::check_packet(const Job& job, const PacketHeader& header,
                                   PacketSource source) const {
  const DropReason epoch = check_epoch(true, job.setup.epoch, header.epoch);
  if (epoch != DropReason::none) return epoch;
  if (header.agents != job.setup.agents) return DropReason::wrong_agent;
  if (header.table != job.setup.table) return DropReason::wrong_table;
  if (header.wide != job.wide) return DropReason::sum_too_wide;
  if (header.count > job.count) return DropReason::wrong_count;
  if (header.slot >= job.setup.slots) return DropReason::wrong_slot;
  const PacketSource known = job.setup.sources[header.agent];
  const bool own = known == source || (job.learns && known == 0);
  return own ? DropReason::none : DropReason::foreign;
}

SlotReply SlotRules::dropped(DropReason reason, const PacketHeader* header, MutableByteSpan reply) {
  ++counters_.drops[static_cast<std::size_t>(reason)];
  if (header == nullptr || !is_refused(reason)) return {.reason = reason};
  ++counters_.refusals;
  PacketHeader refusal = *header;
  refusal.type = PacketType::refusal;
  refusal.reason = reason;
  write_header(refusal, reply.data());
  return {.to = ReplyTo::sender, .reason = reason, .bytes = kHeaderBytes};
}

SlotReply SlotRules::handle(ByteSpan datagram, PacketSource source, MutableByteSpan reply) {
  Packet packet;
  const DropReason form = parse_packet(datagram, packet);
  if (form != DropReason::none) return dropped(form, nullptr, reply);
  const PacketHeader& header = packet.header;
  if (header.type != PacketType::contribution) return dropped(DropReason::foreign, nullptr, reply);
  Job* const job = find(header.job);
  if (job == nullptr) {
    return dropped(check_epoch(false, 0, header.epoch), &header, reply);
  }
  const DropReason fit = check_packet(*job, header, source);
  if (fit != DropReason::none) return dropped(fit, &header, reply);
  const SlotReply taken = take(*job, packet, reply);
  if (taken.reason == DropReason::none && job->learns) job->setup.sources[header.agent] = source;
  return taken;
}

SlotReply SlotRules::take(Job& job, const Packet& packet, MutableByteSpan reply) {
  const PacketHeader& header = packet.header;
  Slot& slot = slots_[job.first_slot + header.slot];
  const SlotPhases::Decision decision =
      slot.phases.decide(header.epoch, header.sequence, header.agent);
  switch (decision.step) {
    case SlotStep::drop:
      return dropped(decision.reason, &header, reply);
    case SlotStep::nothing:
      ++counters_.repeats;
      return {};
    case SlotStep::resend_current:
    case SlotStep::resend_previous:
      ++counters_.repeats;
      ++counters_.resent;
      return result(job, slot, header, decision.step == SlotStep::resend_previous, ReplyTo::sender,
                    reply);
    case SlotStep::start:
      slot.phases.start(header.epoch, header.sequence, header.agent, job.setup.agents);
      slot.current ^= 1;
      slot.previous_count = slot.count;
      slot.count = header.count;
      add(job, slot, packet, true);
      break;
    case SlotStep::add:
      if (header.count != slot.count) return dropped(DropReason::wrong_count, &header, reply);
      slot.phases.add(header.agent);
      add(job, slot, packet, false);
      break;
  }
  ++counters_.contributions;
  if (!slot.phases.complete()) return {};
  ++counters_.results;
  return result(job, slot, header, false, ReplyTo::all_agents, reply);
}

void SlotRules::add(const Job& job, Slot& slot, const Packet& packet, bool first) {
  std::uint8_t* const sums = slot.sums[slot.current].sums.data();
  const auto loop =
      job.wide ? (first ? set_levels16 : add_levels16) : (first ? set_levels8 : add_levels8);
  loop(packet.body.data(), packet.header.count, job.places, sums);
}

// A phase is complete when its result is sent, so its contributors are all agents.
SlotReply SlotRules::result(const Job& job, const Slot& slot, const PacketHeader& header,
                            bool previous, ReplyTo to, MutableByteSpan reply) const {
  PacketHeader answer = header;
  answer.type = PacketType::result;
  answer.count = previous ? slot.previous_count : slot.count;
  write_header(answer, reply.data());
  write_contributors(~std::uint64_t{0} >> (64 - job.setup.agents), reply.data() + kHeaderBytes);
  const std::size_t bytes = body_bytes(PacketType::result, answer.count, job.wide);
  const Phase& phase = slot.sums[previous ? slot.current ^ 1 : slot.current];
  std::memcpy(reply.data() + kHeaderBytes + kContributorsBytes, phase.sums.data(), bytes);
  return {.to = to, .job = header.job, .bytes = kHeaderBytes + kContributorsBytes + bytes};
}

}  // namespace tributary::in_network
