// Members: what each agent has and lacks, and how it gets to where the job is.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "core/base/checksum.h"
#include "core/round/job_run.h"
#include "schemas/payload.h"

namespace tributary {
namespace {

// Models on their way at the same time. The next agent is offered one when one has arrived.
constexpr std::ptrdiff_t kTransfersMax = 32;
// An agent that has lost its session in the middle of a download may come back for the rest.
constexpr TimeNs kDownloadResumesNs = 600'000 * kNsPerMs;
constexpr std::size_t kReportsMax = 4096;

const wire::HoldingT* holding_of(const AgentSession& session, std::uint64_t job) {
  const auto found = std::ranges::find(session.holdings, job, &wire::HoldingT::job);
  return found == session.holdings.end() ? nullptr : &*found;
}

constexpr double kNoGain = std::numeric_limits<double>::quiet_NaN();

// Between two of the shares that were told the gain is taken to grow with the logarithm of the
// share, which it nearly does; below the first it is no more than there.
double gain_at(const wire::Report& report, double ratio) {
  const wire::GainCurve* const told = report.gain();
  if (!told || !told->ratios() || !told->gains() || told->ratios()->size() == 0 ||
      told->ratios()->size() != told->gains()->size()) {
    return kNoGain;
  }
  if (ratio >= 1) return kNoGain;  // of what is kept whole, rounding is not in the curve
  double below = 0;
  double below_gain = 0;
  for (flatbuffers::uoffset_t i = 0; i < told->ratios()->size(); ++i) {
    const double above = static_cast<double>(told->ratios()->Get(i));
    const double gain = static_cast<double>(told->gains()->Get(i));
    if (ratio <= above) {
      if (i == 0 || !(below > 0) || !(above > below)) return gain;
      return below_gain + (gain - below_gain) * std::log(ratio / below) / std::log(above / below);
    }
    below = above;
    below_gain = gain;
  }
  return below > 0 ? below_gain + (1 - below_gain) * std::log(ratio / below) / std::log(1 / below)
                   : kNoGain;
}

}  // namespace

// --- coming and going --------------------------------------------------------------------------

wire::StandingT JobRun::standing(const AgentSession& session) const {
  wire::StandingT standing;
  standing.job = record_.job;
  standing.epoch = epoch_ ? epoch_->epoch : 0;
  standing.model_version = version_;
  standing.model_hash = model_hash_;
  const wire::HoldingT* holding = holding_of(session, record_.job);
  if (!holding || holding->job_revision != record_.revision ||
      holding->layer_map_hash != job_->layer_map_hash()) {
    standing.catch_up = wire::CatchUp::job;
  } else if (known_hash(holding->model_version) != holding->model_hash) {
    standing.catch_up = wire::CatchUp::model;
  } else if (holding->model_version == version_) {
    standing.catch_up = wire::CatchUp::nothing;
  } else {
    const bool near = history_.published(holding->model_version + 1) != nullptr;
    standing.catch_up = near ? wire::CatchUp::commits : wire::CatchUp::model;
  }
  return standing;
}

void JobRun::joined(AgentSession& session, std::uint64_t before) {
  const wire::CatchUp catch_up = standing(session).catch_up;
  if (const wire::HoldingT* holding = holding_of(session, record_.job)) {
    for (const wire::RoundId& id : holding->undecided) session.undecided.push_back(key_of(id));
    if (catch_up != wire::CatchUp::job) serves(session);
    if (catch_up == wire::CatchUp::nothing || catch_up == wire::CatchUp::commits) {
      session.synced = true;
      session.version = session.commit_sent = holding->model_version;
    }
  }
  const auto found = member_by_agent_.find(session.agent_id);
  if (before != 0 && found != member_by_agent_.end() && members_[found->second].session == before) {
    // The same process over a new connection: it goes on where it was.
    members_[found->second].session = session.conversation.session();
    session.generation = members_[found->second].generation;
    if (round_) {
      round_->members()[found->second].session = session.conversation.session();
      round_->members()[found->second].upload.rate.interrupted();
    }
    if (session.job == record_.job) {
      send_membership(session, found->second);
      if (round_ && round_->members()[found->second].participates) {
        send_plan(session, round_->shared_plan(), found->second);
      }
    }
  }
  if (session.job != record_.job) {
    // The model follows at once: an agent that lacks the job lacks its model as well.
    send_job(session);
    offer(session);
  } else {
    if (record_.state != wire::JobState::running) send_state(session);
    advance(session);
  }
  maybe_begin();
}

void JobRun::serves(AgentSession& session) {
  session.job = record_.job;
  desk_.record_agent(session, true);
}

void JobRun::count(AgentSession& session) {
  up_.add(std::exchange(session.received, {}));
  down_.add(session.conversation.take_sent());
  repeats_.add(session.conversation.take_repeated());
}

void JobRun::left(AgentSession& session) {
  count(session);
  repeats_.session_down += session.conversation.bulk().bytes_under_way();
  if (session.transfer != 0) snapshot_kept_until_ns_ = desk_.now + kDownloadResumesNs;
  if (!round_) return;
  const std::optional<std::uint32_t> member = member_of(session);
  if (!member) return;
  round_->members()[*member].session = 0;
  round_->members()[*member].upload.rate.interrupted();
  // Where agents wait for room, it is given to the next. Else the agent goes on where it was.
  if (called()) round_->incoming().erase_member(*member);
  call_waiting();
  close_where_complete();
}

std::optional<std::uint32_t> JobRun::member_of(const AgentSession& session) const {
  const auto found = member_by_agent_.find(session.agent_id);
  if (found == member_by_agent_.end()) return std::nullopt;
  if (members_[found->second].session != session.conversation.session()) return std::nullopt;
  return found->second;
}

void JobRun::send_job(AgentSession& session) {
  session.job_asked = record_.job;
  session.conversation.ask(
      desk_.now,
      [job = job_, state = record_.state, reason = record_.state_reason] {
        wire::JobT wire;
        job->wire().UnPackTo(&wire);
        wire.state = state;
        wire.state_reason = reason;
        return frame_with(std::move(wire));
      },
      desk_.out, record_.job);
}

void JobRun::send_state(AgentSession& session) {
  session.conversation.ask(
      desk_.now,
      [job = record_.job, revision = record_.revision, change = record_.change,
       state = record_.state, reason = record_.state_reason] {
        wire::JobChangeT wire;
        wire.job = job;
        wire.revision = revision;
        wire.change = change;
        wire.state = state;
        wire.reason = reason;
        return frame_with(std::move(wire));
      },
      desk_.out, record_.job);
}

// --- catching up -------------------------------------------------------------------------------

std::optional<std::uint64_t> JobRun::known_hash(std::uint64_t version) const {
  if (version == version_) return model_hash_;
  if (const RoundRecord* record = history_.outcome(version)) return record->model_hash;
  if (const RoundRecord* record = history_.outcome(version + 1)) return record->previous_hash;
  return std::nullopt;
}

// Gives an agent the next thing that it lacks.
void JobRun::advance(AgentSession& session) {
  if (session.job != record_.job || session.transfer != 0 || session.leaving) return;
  if (!session.synced) return offer(session);
  if (session.version == version_ || session.commit_sent > session.version) return;
  const Published* next = history_.published(session.version + 1);
  if (next) {
    send_commit(session, *next);
  } else {
    offer(session);
  }
}

void JobRun::send_commit(AgentSession& session, const Published& round) {
  if (session.plan_sent != round.plan->key()) send_plan(session, round.plan, std::nullopt);
  session.commit_sent = round.record->id.round;
  session.conversation.ask(
      desk_.now, [commit = round.commit] { return frame_with(wire::CommitT(*commit)); }, desk_.out,
      round.record->id.round);
}

void JobRun::check_replica(AgentSession& session, std::uint64_t version, std::uint64_t hash) {
  const std::optional<std::uint64_t> known = known_hash(version);
  if (!known || *known == hash) return;
  desk_.note(LogLevel::error, "replica_diverged", "mismatch", session.agent_id,
             fmt::format("version {}: expected hash {:016x}, got {:016x}", version, *known, hash),
             {.job = record_.job, .round = version});
  session.synced = false;
  advance(session);
}

// What a member keeps of its update in this round, as far as the plan says so.
double JobRun::ratio_of(std::uint32_t member) const {
  const wire::PlanT& plan = round_->plan().wire();
  if (plan.exchanges.empty()) return 1;
  const wire::ExchangeT& exchange = *plan.exchanges.front();
  if (member < exchange.ratios.size()) return exchange.ratios[member];
  const auto codec = desk_.shelf.get(exchange.codec);
  return codec.ok() ? (*codec)->own_share().value_or(exchange.ratio) : exchange.ratio;
}

void JobRun::receive_report(AgentSession& session, const wire::Report& report) {
  const RoundKey key = key_of(*report.id());
  if (key.job != record_.job) return;
  const std::optional<std::uint32_t> member = member_of(session);
  const bool of_this_round = member && round_ && round_->key() == key;
  // An agent that has lost its session says again what an exchange came to.
  const bool again = of_this_round && round_->members()[*member].results_hash != 0;
  if (reports_.size() < kReportsMax && !again) {
    reports_.push_back({.id = key,
                        .agent_id = session.agent_id,
                        .loss = report.loss(),
                        .examples = report.examples(),
                        .compute_s = report.compute_s(),
                        .encode_s = report.encode_s(),
                        .wait_s = report.wait_s(),
                        .decode_s = report.decode_s(),
                        .update_norm = report.update_norm(),
                        .residual_norm = report.residual_norm(),
                        .gain = of_this_round ? gain_at(report, ratio_of(*member)) : kNoGain,
                        .bytes_up = report.bytes_up(),
                        .bytes_down = report.bytes_down()});
  }
  if (job_->wire().weighting() == wire::Weighting::examples && report.examples() > 0) {
    examples_[session.agent_id] = report.examples();
  }
  read_metrics(session, report);
  if (!again) tell_planner(session, report);
  if (of_this_round && report.results_hash() != 0) {
    round_->members()[*member].results_hash = report.results_hash();
    close_where_complete();
  }
  if (session.synced) check_replica(session, report.model_version(), report.model_hash());
}

// Names that nobody knows here are passed over: they become those of series.
void JobRun::read_metrics(const AgentSession& session, const wire::Report& report) {
  if (!report.metrics() || report.metrics()->size() > kAgentMetrics.size()) return;
  for (const wire::Measure* measure : *report.metrics()) {
    const auto known = std::ranges::find(kAgentMetrics, measure->name()->string_view());
    if (known == kAgentMetrics.end()) continue;
    desk_.out.emplace_back(Reading{.name = *known,
                                   .value = measure->value(),
                                   .job = record_.job,
                                   .round = report.id()->round() - 1,
                                   .agent_id = session.agent_id});
  }
}

void JobRun::receive_applied(AgentSession& session, const wire::Applied& applied) {
  if (applied.id()->job() != record_.job || !session.synced) return;
  if (applied.model_version() != session.version + 1 ||
      session.commit_sent < applied.model_version()) {
    return;  // said before, or of a time before a transfer
  }
  const std::optional<std::uint64_t> known = known_hash(applied.model_version());
  if (!known) {
    // Too long ago to be compared: the agent gets the model.
    session.synced = false;
    return advance(session);
  }
  if (*known != applied.model_hash()) {
    return check_replica(session, applied.model_version(), applied.model_hash());
  }
  session.version = applied.model_version();
  std::erase_if(session.undecided,
                [&](const RoundKey& key) { return key.round <= session.version; });
  advance(session);
  maybe_begin();
}

void JobRun::receive_abort(AgentSession& session, const wire::Abort& abort) {
  const std::optional<std::uint32_t> member = member_of(session);
  if (!round_ || !member || key_of(*abort.id()) != round_->key()) return;
  desk_.note(LogLevel::warning, "agent_withdrew", wire::EnumNameAbortReason(abort.reason()),
             session.agent_id, abort.text() ? abort.text()->str() : std::string(), round_->key());
  round_->members()[*member].withdrawn = true;
  round_->incoming().erase_member(*member);
  call_waiting();
  close_where_complete();
}

// --- transfers ---------------------------------------------------------------------------------

void JobRun::receive_request(AgentSession& session, const wire::TransferRequest& request) {
  if (request.job() != record_.job || request.content() != wire::Content::model) {
    return desk_.refuse(session, "unknown_transfer", "a transfer that is not on offer");
  }
  session.synced = false;
  stop_transfer(session);
  session.holdings.clear();  // whatever it had of a download is of no use
  advance(session);
}

// The model that transfers are made from. While one is under way the snapshot stays, as long as its
// receiver can go on from there by commits: however many agents join, one old model is kept.
const JobRun::Snapshot& JobRun::snapshot() {
  const bool in_use = transfers() > 0 || desk_.now < snapshot_kept_until_ns_;
  const bool reaches = snapshot_ && (snapshot_->version == version_ ||
                                     history_.published(snapshot_->version + 1) != nullptr);
  if (snapshot_ && (snapshot_->version == version_ || (in_use && reaches))) return *snapshot_;
  Snapshot made;
  made.version = version_;
  made.model_hash = model_hash_;
  made.model = model_;
  made.rule_state = rule_state_;
  Checksum checksum;
  checksum.update(bytes_of(std::span<const float>(*made.model)));
  checksum.update(*made.rule_state);
  made.hash = checksum.finish64();
  made.bytes = made.model->size() * sizeof(float) + made.rule_state->size();
  snapshot_ = std::move(made);
  return *snapshot_;
}

// What the agent must know before it can take a model of this version. Nothing where the journal
// has to be asked first.
std::optional<std::vector<wire::SettlementT>> JobRun::settlements(const AgentSession& session,
                                                                  std::uint64_t version) {
  std::vector<RoundKey> ids;
  for (const RoundKey& key : session.undecided) {
    if (key.job == record_.job && key.round <= version) ids.push_back(key);
  }
  // In this session it may have contributed to rounds that it has not said it does not know of.
  for (std::uint64_t round = version; round > 0 && ids.size() < 8; --round) {
    const RoundRecord* record = history_.outcome(round);
    if (!record) break;
    if (std::ranges::find(ids, record->id) == ids.end()) ids.push_back(record->id);
  }
  if (ids.size() > wire::kRoundsPerCommitMax) ids.resize(wire::kRoundsPerCommitMax);
  std::vector<wire::SettlementT> settled;
  for (const RoundKey& id : ids) {
    const std::optional<Fate> fate = fate_of(session, id);
    if (!fate) {
      const Token token = desk_.next_token();
      loading_[token] = {.session = session.conversation.session(), .round = id.round};
      desk_.out.emplace_back(LoadRound{.token = token, .job = record_.job, .round = id.round});
      return std::nullopt;
    }
    wire::SettlementT one;
    one.id = std::make_unique<wire::RoundId>(wire_id(id));
    one.committed = fate->committed;
    one.buckets = fate->buckets;
    one.contributed_bits = fate->contributed.bytes();
    settled.push_back(std::move(one));
  }
  return settled;
}

std::optional<Fate> JobRun::fate_of(const AgentSession& session, const RoundKey& id) const {
  const auto found = loaded_.find(id.round);
  if (found == loaded_.end()) return history_.fate(session.agent_id, id, version_);
  return fate_in(found->second.first, found->second.second, session.agent_id, id);
}

void JobRun::loaded(const RoundLoaded& event) {
  const auto found = loading_.find(event.token);
  if (found == loading_.end()) return;
  const Loading loading = found->second;
  loading_.erase(found);
  AgentSession* session = desk_.roster.by_session(loading.session);
  if (!session) return;
  if (event.round && event.epoch) {
    loaded_[loading.round] = {*event.round, *event.epoch};
  } else {
    // A round that the journal does not have was never committed.
    std::erase_if(session->undecided,
                  [&](const RoundKey& key) { return key.round == loading.round; });
  }
  session->transfer_wanted = false;
  advance(*session);
  // Another round of the same agent may have to be asked for: then all are asked for again.
  if (!session->transfer_wanted || loaded_.size() > wire::kRoundsPerCommitMax) loaded_.clear();
}

std::ptrdiff_t JobRun::transfers() const {
  return std::ranges::count_if(desk_.roster.all(),
                               [](const auto& item) { return item.second->transfer != 0; });
}

void JobRun::offer_to_waiting() {
  if (!transfers_wait_ || transfers() >= kTransfersMax) return;
  transfers_wait_ = false;
  for (const auto& [number, session] : desk_.roster.all()) {
    if (session->run != record_.job || !session->transfer_waits || session->transfer != 0) continue;
    session->transfer_waits = false;
    advance(*session);
    if (session->transfer_waits) break;
  }
}

void JobRun::offer(AgentSession& session) {
  if (session.transfer_wanted) return;
  session.transfer_waits = transfers() >= kTransfersMax;
  transfers_wait_ |= session.transfer_waits;
  if (session.transfer_waits) {
    session.synced = false;
    return;
  }
  const Snapshot& source = snapshot();
  std::optional<std::vector<wire::SettlementT>> settled = settlements(session, source.version);
  if (!settled) {
    session.transfer_wanted = true;
    return;
  }
  session.synced = false;
  session.transfer = desk_.draw();
  session.transfer_version = source.version;
  session.transfer_before_job = session.job != record_.job;
  const auto shared = std::make_shared<const std::vector<wire::SettlementT>>(std::move(*settled));
  const wire::HoldingT* holding = holding_of(session, record_.job);
  const bool goes_on = holding && holding->download_hash == source.hash;
  const std::uint64_t from = goes_on ? std::min(holding->download_bytes, source.bytes) : 0;
  session.conversation.ask(
      desk_.now,
      [job = job_, transfer = session.transfer, source = source, from, shared,
       part_bytes = part_bytes_max(desk_.config)] {
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
        for (const wire::SettlementT& one : *shared) {
          offer.settled.push_back(std::make_unique<wire::SettlementT>(one));
        }
        return frame_with(std::move(offer));
      },
      desk_.out, session.transfer);
  if (from < source.bytes) send_model(session, source, from);
}

// The model, and the optimizer's state behind it.
void JobRun::send_model(AgentSession& session, const Snapshot& source, std::uint64_t from) {
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
      desk_.now,
      {.id = {.round = {.job = record_.job}, .transfer = session.transfer},
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
      from, desk_.out);
}

void JobRun::receive_fetch(AgentSession& session, const wire::TransferFetch& fetch) {
  const bool offered = session.transfer != 0 && fetch.transfer() == session.transfer;
  if (!offered || !snapshot_ || snapshot_->version != session.transfer_version) {
    // The agent waits for a model that is not on its way to it: it is offered anew.
    stop_transfer(session);
    session.synced = false;
    return advance(session);
  }
  send_model(session, *snapshot_, fetch.from());
}

void JobRun::stop_transfer(AgentSession& session) {
  if (session.transfer == 0) return;
  session.conversation.drop_stream(
      {.round = {.job = record_.job}, .transfer = std::exchange(session.transfer, 0)});
}

// --- messages ----------------------------------------------------------------------------------

void JobRun::answered(AgentSession& session, const Conversation::Asked& asked) {
  if (asked.kind == wire::Message::Job && asked.tag == record_.job) {
    serves(session);
    // What it was sent may be older than the job's last change, of which those without it are not
    // told.
    if (record_.state != wire::JobState::running) send_state(session);
    advance(session);
  } else if (asked.kind == wire::Message::TransferOffer && asked.tag == session.transfer) {
    session.transfer = 0;
    session.synced = true;
    session.version = session.commit_sent = session.transfer_version;
    ++session.generation;
    session.undecided.clear();
    advance(session);
  }
  maybe_begin();
}

void JobRun::refused(AgentSession& session, const Conversation::Asked& asked,
                     const wire::Refusal& refusal) {
  const std::string text = refusal.what() ? refusal.what()->str() : std::string();
  desk_.note(LogLevel::warning, "agent_refused", wire::EnumNameMessage(asked.kind),
             session.agent_id, text, {.job = record_.job, .round = version_});
  if (asked.kind == wire::Message::TransferOffer && asked.tag == session.transfer) {
    stop_transfer(session);
    // It may have overtaken the job, without which it means nothing.
    if (std::exchange(session.transfer_before_job, false)) advance(session);
  } else if (asked.kind == wire::Message::Plan && round_ && asked.tag == round_->key().round) {
    const std::optional<std::uint32_t> member = member_of(session);
    if (member) round_->members()[*member].withdrawn = true;
    close_where_complete();
  }
}

void JobRun::receive(AgentSession& session, const wire::Frame& frame, ByteSpan payload) {
  switch (frame.message_type()) {
    case wire::Message::Preliminary: {
      const auto& message = *frame.message_as_Preliminary();
      return receive_part(session, *message.part(), message.agent_index(), SentAs::preliminary,
                          payload);
    }
    case wire::Message::Update: {
      const auto& message = *frame.message_as_Update();
      if (message.contributors() != 1) {
        return desk_.refuse(session, "mismatch", "a partial sum, which a star does not have");
      }
      return receive_part(session, *message.part(), message.agent_index(), SentAs::update, payload);
    }
    case wire::Message::Aggregate: {
      const auto& message = *frame.message_as_Aggregate();
      if (message.agent_index() < 0) {
        return desk_.refuse(session, "mismatch", "a result that nobody has made");
      }
      return receive_part(session, *message.part(),
                          static_cast<std::uint32_t>(message.agent_index()), SentAs::result,
                          payload);
    }
    case wire::Message::Receipt:
      return receive_receipt(session, *frame.message_as_Receipt());
    case wire::Message::Report:
      return receive_report(session, *frame.message_as_Report());
    case wire::Message::Applied:
      return receive_applied(session, *frame.message_as_Applied());
    case wire::Message::Abort:
      return receive_abort(session, *frame.message_as_Abort());
    case wire::Message::TransferRequest:
      return receive_request(session, *frame.message_as_TransferRequest());
    case wire::Message::TransferFetch:
      return receive_fetch(session, *frame.message_as_TransferFetch());
    default:
      return desk_.refuse(session, "not_allowed", wire::EnumNameMessage(frame.message_type()));
  }
}

}  // namespace tributary
