#include "core/round/coordinator/commit/catch_up.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "core/base/bytes/checksum.h"
#include "core/round/coordinator/context/plan_message.h"
#include "schemas/payload.h"

namespace tributary {
namespace {

// More transfers at once would share the coordinator's link, and all of them would end later.
constexpr std::ptrdiff_t kTransfersMax = 32;
// Time for which an agent that lost its session during a download can return for the rest.
constexpr TimeNs kDownloadResumesNs = 600'000 * kNsPerMs;

const wire::HoldingT* holding_of(const AgentSession& session, std::uint64_t job) {
  const auto found = std::ranges::find(session.holdings, job, &wire::HoldingT::job);
  return found == session.holdings.end() ? nullptr : &*found;
}

}  // namespace

// --- sessions ----------------------------------------------------------------------------------

// The smallest step that brings the agent up to date, from the most to the least that it lacks: the
// job, the whole model, the commits after its version, or nothing.
wire::StandingT CatchUp::standing(const AgentSession& session, std::uint32_t epoch) const {
  wire::StandingT standing;
  standing.job = job_.id();
  standing.epoch = epoch;
  standing.model_version = committed_.version();
  standing.model_hash = committed_.hash();
  const wire::HoldingT* holding = holding_of(session, job_.id());
  if (!holding || holding->job_revision != job_.record.revision ||
      holding->layer_map_hash != job_.model->layer_map_hash()) {
    standing.catch_up = wire::CatchUp::job;
  } else if (committed_.known_hash(holding->model_version) != holding->model_hash) {
    standing.catch_up = wire::CatchUp::model;
  } else if (holding->model_version == committed_.version()) {
    standing.catch_up = wire::CatchUp::nothing;
  } else {
    const bool near = committed_.history().published(holding->model_version + 1) != nullptr;
    standing.catch_up = near ? wire::CatchUp::commits : wire::CatchUp::model;
  }
  return standing;
}

void CatchUp::greet(AgentSession& session) {
  const wire::HoldingT* const holding = holding_of(session, job_.id());
  if (!holding) return;
  const wire::CatchUp catch_up = standing(session, 0).catch_up;
  for (const wire::RoundId& id : holding->undecided) session.undecided.push_back(key_of(id));
  // An agent that lacks only the model needs no new copy of the job.
  if (catch_up != wire::CatchUp::job) assign_job(session);
  if (catch_up == wire::CatchUp::model) note_lost_rounds(session, holding->model_version);
  if (catch_up == wire::CatchUp::nothing || catch_up == wire::CatchUp::commits) {
    // The hash has been compared, so the agent's model is this job's model of that version. The
    // commits after it follow one at a time.
    session.synced = true;
    session.version = session.commit_sent = holding->model_version;
  }
}

// A power failure can undo commits that agents have applied, unless each was made durable
// (journal.durability). The agent gets the older model, and the rounds are made anew. The
// contributions to the lost ones are lost.
void CatchUp::note_lost_rounds(const AgentSession& session, std::uint64_t version) {
  const std::uint64_t known = std::max(committed_.version(), lost_noted_);
  if (version <= known || version > job_.model->wire().rounds()) return;
  lost_noted_ = version;
  job_.coordinator.note(
      LogLevel::warning, "rounds_lost", "power_failure", session.agent_id,
      fmt::format(
          "the agent has the model of round {}, the journal ends with round {}: the contributions "
          "to the rounds in between are lost",
          version, committed_.version()),
      {.job = job_.id(), .round = committed_.version()});
}

void CatchUp::begin(AgentSession& session) {
  if (session.job != job_.id()) {
    // The model follows at once, because an agent without the job has no model of it either.
    send_job(session);
    offer(session);
    return;
  }
  if (!job_.running()) send_state(session);
  advance(session);
}

// The snapshot of an interrupted download is kept for a while. A newer one would have other bytes,
// and the agent would have to begin again.
void CatchUp::left(const AgentSession& session) {
  if (session.transfer == 0) return;
  snapshot_kept_until_ns_ = job_.coordinator.now + kDownloadResumesNs;
}

void CatchUp::assign_job(AgentSession& session) {
  session.job = job_.id();
  job_.coordinator.record_agent(session, true);
}

void CatchUp::send_job(AgentSession& session) {
  session.job_asked = job_.id();
  session.conversation.ask(
      job_.coordinator.now,
      [job = job_.model, state = job_.record.state, reason = job_.record.state_reason] {
        wire::JobT wire;
        job->wire().UnPackTo(&wire);
        wire.state = state;
        wire.state_reason = reason;
        return frame_with(std::move(wire));
      },
      job_.coordinator.out, job_.id());
}

void CatchUp::send_state(AgentSession& session) {
  session.conversation.ask(
      job_.coordinator.now,
      [job = job_.id(), revision = job_.record.revision, change = job_.record.change,
       state = job_.record.state, reason = job_.record.state_reason] {
        wire::JobChangeT wire;
        wire.job = job;
        wire.revision = revision;
        wire.change = change;
        wire.state = state;
        wire.reason = reason;
        return frame_with(std::move(wire));
      },
      job_.coordinator.out, job_.id());
}

// --- commits -----------------------------------------------------------------------------------

// Takes the next step of an agent: one commit, or an offer of the model. Each answer of the agent
// calls it again, so at most one step is under way per session.
void CatchUp::advance(AgentSession& session) {
  if (session.job != job_.id() || session.transfer != 0 || session.leaving) return;
  if (!session.synced) return offer(session);
  if (session.version == committed_.version() || session.commit_sent > session.version) return;
  const Published* const next = committed_.history().published(session.version + 1);
  if (next) {
    send_commit(session, *next);
  } else {
    offer(session);
  }
}

void CatchUp::advance_all() {
  for (const auto& [number, session] : job_.coordinator.roster.all()) advance(*session);
}

void CatchUp::send_commit(AgentSession& session, const Published& round) {
  // An agent that did not participate in the round needs its plan to apply the commit.
  if (session.plan_sent != round.plan->key()) {
    send_plan(job_.coordinator, session, round.plan, std::nullopt);
  }
  session.commit_sent = round.record->id.round;
  session.conversation.ask(
      job_.coordinator.now, [commit = round.commit] { return frame_with(wire::CommitT(*commit)); },
      job_.coordinator.out, round.record->id.round);
}

// A replica with another hash is replaced by a download.
void CatchUp::check_replica(AgentSession& session, std::uint64_t version, std::uint64_t hash) {
  const std::optional<std::uint64_t> known = committed_.known_hash(version);
  if (!known || *known == hash) return;
  job_.coordinator.note(
      LogLevel::error, "replica_diverged", "mismatch", session.agent_id,
      fmt::format("version {}: expected hash {:016x}, got {:016x}", version, *known, hash),
      {.job = job_.id(), .round = version});
  session.synced = false;
  advance(session);
}

bool CatchUp::receive_applied(AgentSession& session, const wire::Applied& applied) {
  if (applied.id()->job() != job_.id() || !session.synced) return false;
  const std::uint64_t version = applied.model_version();
  // Ignores a repeat, and a report from before a transfer.
  if (version != session.version + 1 || session.commit_sent < version) return false;
  const std::optional<std::uint64_t> known = committed_.known_hash(version);
  if (!known) {
    // The round is too old for a comparison, so the agent receives the model.
    session.synced = false;
    advance(session);
    return false;
  }
  if (*known != applied.model_hash()) {
    check_replica(session, version, applied.model_hash());
    return false;
  }
  // Only now does the agent count as ready for the next round.
  session.version = version;
  std::erase_if(session.undecided,
                [&](const RoundKey& key) { return key.round <= session.version; });
  advance(session);
  return true;
}

std::uint64_t CatchUp::send_missing(AgentSession& session, const wire::Receipt& receipt) {
  const RoundKey key = key_of(*receipt.id());
  const Published* const published = committed_.history().published(key.round);
  if (!published || published->record->id != key) {
    // The agent was sent the commit, but the aggregates are no longer kept.
    const bool lacks = session.synced && session.transfer == 0 && key.job == job_.id() &&
                       key.round == session.version + 1 && key.round <= committed_.version() &&
                       !published;
    if (lacks) {
      offer(session);
    } else {
      advance(session);
    }
    return 0;
  }
  return late_.send(
      session, *published,
      {.bucket = receipt.bucket(), .stage = receipt.stage(), .from = receipt.received_bytes()});
}

// --- transfers ---------------------------------------------------------------------------------

void CatchUp::receive_request(AgentSession& session, const wire::TransferRequest& request) {
  if (request.job() != job_.id() || request.content() != wire::Content::model) {
    return job_.coordinator.refuse(session, "unknown_transfer", "a transfer that is not on offer");
  }
  session.synced = false;
  stop_transfer(session);
  session.holdings.clear();  // the agent cannot use the stored part of a download
  advance(session);
}

// Downloads share one snapshot as long as commits lead from it to the current version. Making a new
// one for each would cost a hash over the model per agent, and no interrupted download could
// continue.
const CatchUp::Snapshot& CatchUp::snapshot() {
  const bool in_use = transfers() > 0 || download_may_resume();
  const bool current = snapshot_ && snapshot_->version == committed_.version();
  // A snapshot is of use only while commits lead from it to the current version.
  const bool reaches =
      current || (snapshot_ && committed_.history().published(snapshot_->version + 1) != nullptr);
  if (current || (snapshot_ && in_use && reaches)) return *snapshot_;
  Snapshot made;
  made.version = committed_.version();
  made.model_hash = committed_.hash();
  made.model = committed_.state().values;
  made.rule_state = committed_.state().rule_state;
  Checksum checksum;
  checksum.update(bytes_of(std::span<const float>(*made.model)));
  checksum.update(*made.rule_state);
  made.hash = checksum.finish64();
  made.bytes = made.model->size() * sizeof(float) + made.rule_state->size();
  snapshot_ = std::move(made);
  return *snapshot_;
}

// Frees the old model as early as possible: with a snapshot in use, two versions of the model are
// in memory.
void CatchUp::model_replaced() {
  if (!transfers_wait_ && transfers() == 0 && !download_may_resume()) snapshot_.reset();
}

std::uint64_t CatchUp::loaded(const RoundLoaded& event) {
  if (const std::optional<LateResults::Sent> sent = late_.loaded(event)) {
    for (AgentSession* const session : sent->failed) offer(*session);
    return sent->bytes;
  }
  if (AgentSession* const session = settlements_.take(event)) {
    advance(*session);
    settlements_.release(*session);
  }
  return 0;
}

std::ptrdiff_t CatchUp::transfers() const {
  return std::ranges::count_if(job_.coordinator.roster.all(),
                               [](const auto& item) { return item.second->transfer != 0; });
}

// The flag saves a walk over all sessions on every event of the machine.
void CatchUp::offer_to_waiting() {
  if (!transfers_wait_ || transfers() >= kTransfersMax) return;
  transfers_wait_ = false;
  for (const auto& [number, session] : job_.coordinator.roster.all()) {
    if (session->run != job_.id() || !session->transfer_waits || session->transfer != 0) continue;
    session->transfer_waits = false;
    advance(*session);
    if (session->transfer_waits) break;
  }
}

void CatchUp::offer(AgentSession& session) {
  if (session.transfer_requested) return;
  // From here on the agent waits for the model. So advance() calls this again, also if a commit was
  // sent whose results cannot follow.
  session.synced = false;
  session.transfer_waits = transfers() >= kTransfersMax;
  transfers_wait_ |= session.transfer_waits;
  if (session.transfer_waits) return;
  const Snapshot& source = snapshot();
  std::optional<std::vector<wire::SettlementT>> settled =
      settlements_.up_to(session, source.version);
  if (!settled) {
    // The outcome of a round that the agent asks about is no longer in memory. The journal is read
    // first, and loaded() calls advance() again.
    session.transfer_requested = true;
    return;
  }
  session.transfer = job_.coordinator.draw();
  session.transfer_version = source.version;
  session.transfer_before_job = session.job != job_.id();
  const wire::HoldingT* const holding = holding_of(session, job_.id());
  // A download of another snapshot has other bytes and cannot be continued.
  const bool continues = holding && holding->download_hash == source.hash;
  const std::uint64_t from = continues ? std::min(holding->download_bytes, source.bytes) : 0;
  send_offer(session, source, from, std::move(*settled));
  if (from < source.bytes) send_model(session, source, from);
}

void CatchUp::send_offer(AgentSession& session, const Snapshot& source, std::uint64_t from,
                         std::vector<wire::SettlementT> settled) {
  session.conversation.ask(
      job_.coordinator.now,
      [job = job_.model, transfer = session.transfer, source = source, from,
       settled = std::make_shared<const std::vector<wire::SettlementT>>(std::move(settled)),
       part_bytes = part_bytes_max(job_.coordinator.config)] {
        wire::TransferOfferT offer;
        offer.transfer = transfer;
        offer.job = job->job();
        offer.content = wire::Content::model;
        offer.model_version = source.version;
        offer.model_hash = source.model_hash;
        offer.layer_map_hash = job->layer_map_hash();
        offer.bytes = source.bytes;
        offer.part_bytes = part_bytes;
        offer.hash = source.hash;
        offer.from = from;
        for (const wire::SettlementT& settlement : *settled) {
          offer.settled.push_back(std::make_unique<wire::SettlementT>(settlement));
        }
        return frame_with(std::move(offer));
      },
      job_.coordinator.out, session.transfer);
}

// Sends the model, followed by the optimizer's state.
void CatchUp::send_model(AgentSession& session, const Snapshot& source, std::uint64_t from) {
  const auto slice = [model = source.model, state = source.rule_state](std::uint64_t offset,
                                                                       std::uint32_t size) {
    const ByteSpan values = bytes_of(std::span<const float>(*model));
    const bool in_model = offset < values.size();
    const ByteSpan rest =
        in_model ? values.subspan(offset) : ByteSpan(*state).subspan(offset - values.size());
    return PayloadSlice{
        .owner = in_model ? std::shared_ptr<const void>(model) : std::shared_ptr<const void>(state),
        .bytes = rest.first(std::min<std::size_t>(size, rest.size()))};
  };
  session.conversation.stream(
      job_.coordinator.now,
      {.id = {.round = {.job = job_.id()}, .transfer = session.transfer},
       .bytes = source.bytes,
       .slice = slice,
       .frame =
           [transfer = session.transfer](std::uint64_t offset, const PayloadSlice& part) {
             const PayloadClaim claim = claim_for(part.bytes);
             wire::TransferPartT wire;
             wire.transfer = transfer;
             wire.offset = offset;
             wire.payload_bytes = claim.bytes;
             wire.payload_checksum = claim.checksum;
             return frame_with(wire);
           }},
      from, job_.coordinator.out);
}

void CatchUp::receive_fetch(AgentSession& session, const wire::TransferFetch& fetch) {
  const bool offered = session.transfer != 0 && fetch.transfer() == session.transfer;
  if (!offered || !snapshot_ || snapshot_->version != session.transfer_version) {
    // The agent waits for a model that is not being sent. It receives a new offer.
    stop_transfer(session);
    session.synced = false;
    return advance(session);
  }
  send_model(session, *snapshot_, fetch.from());
}

void CatchUp::stop_transfer(AgentSession& session) {
  if (session.transfer == 0) return;
  session.conversation.bulk().drop(
      {.round = {.job = job_.id()}, .transfer = std::exchange(session.transfer, 0)});
}

// --- answers -----------------------------------------------------------------------------------

// The answer to an offer means that the agent has stored the model. Its undecided rounds are
// settled by then, because the offer contained their outcomes.
void CatchUp::answered(AgentSession& session, const Conversation::Asked& asked) {
  if (asked.kind == wire::Message::Job && asked.tag == job_.id()) {
    assign_job(session);
    // A change of state is sent only to agents that have the job. The job that this agent was sent
    // may be older than the last change.
    if (!job_.running()) send_state(session);
    advance(session);
  } else if (asked.kind == wire::Message::TransferOffer && asked.tag == session.transfer) {
    session.transfer = 0;
    session.synced = true;
    session.version = session.commit_sent = session.transfer_version;
    session.plan_sent = {};  // an agent drops plans when it gets an older model
    ++session.generation;
    session.undecided.clear();
    advance(session);
  }
}

void CatchUp::refused(AgentSession& session, const Conversation::Asked& asked) {
  if (asked.kind != wire::Message::TransferOffer || asked.tag != session.transfer) return;
  stop_transfer(session);
  // The offer may have arrived before the job, and then the agent had to refuse it.
  if (std::exchange(session.transfer_before_job, false)) advance(session);
}

}  // namespace tributary
