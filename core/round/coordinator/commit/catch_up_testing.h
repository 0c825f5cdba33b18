// Fixture for tests that bring agents to the current version of a job.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "core/round/coordinator/commit/catch_up.h"
#include "core/round/coordinator/commit/committed_model_testing.h"
#include "core/round/coordinator/context/job_testing.h"

namespace tributary::round_testing {

// The job is at version 5. Rounds 4 and 5 are available with payloads, round 3 only as an outcome.
// The hash of version v is 10 * v.
class CatchUpTest : public JobTest {
 protected:
  static constexpr std::uint64_t kVersion = 5;

  CatchUpTest() {
    open_epoch(1, kVersion);
    committed_.history().add_epoch(membership_.epoch());
    committed_.history().add_outcome(std::make_shared<const RoundRecord>(record_of(3)));
    publish(4);
    publish(5);
  }
  static RoundRecord record_of(std::uint64_t round) {
    RoundRecord record;
    record.id = {.job = kSmallJob, .round = round, .epoch = 1, .attempt = 0};
    record.journal_entry = round;
    record.members = 1;
    record.buckets = 1;
    record.contributor_sets = {{.bits = {1}, .contributors = 1, .divisor = 1}};
    record.outcomes = {{.bucket = 0, .contributor_set = 0, .result_hash = 1}};
    record.previous_hash = 10 * (round - 1);
    record.model_hash = 10 * round;
    return record;
  }
  void publish(std::uint64_t round) { publish(round, committed_); }
  void publish(std::uint64_t round, CommittedModel& committed) {
    Published published;
    published.plan = make_plan(round);
    published.record = std::make_shared<const RoundRecord>(record_of(round));
    published.commit = commit_message(*published.record, wire::Collective::star);
    published.combined[0] = {std::make_shared<const Bytes>(payload_of(*published.plan, 0, 0, 1))};
    published.contributors[0] = 1;
    published.bytes = 1;
    committed.history().publish(std::move(published));
    committed.replace(model_state(round, 10 * round));
  }
  // The model that an agent names in its Hello.
  wire::HoldingT holding(std::uint64_t version, std::uint64_t hash) const {
    wire::HoldingT holding;
    holding.job = kSmallJob;
    holding.job_revision = 1;
    holding.layer_map_hash = job_.model->layer_map_hash();
    holding.model_version = version;
    holding.model_hash = hash;
    return holding;
  }
  wire::CatchUp standing_with(wire::HoldingT holding) {
    AgentSession& session = add_new_agent("asks");
    session.holdings = {std::move(holding)};
    return catch_up_.standing(session, 0).catch_up;
  }
  // An agent that has the job but no known model.
  AgentSession& add_agent_without_model(const std::string& agent_id) {
    AgentSession& session = add_agent(agent_id, 0);
    session.synced = false;
    return session;
  }
  void take_transfer(AgentSession& session) {
    catch_up_.answered(session, {.kind = wire::Message::TransferOffer, .tag = session.transfer});
  }
  bool apply(AgentSession& session, std::uint64_t version, std::uint64_t hash) {
    wire::AppliedT applied;
    applied.id = wire_id_of({.job = kSmallJob, .round = version, .epoch = 1, .attempt = 0});
    applied.model_version = version;
    applied.model_hash = hash;
    return catch_up_.receive_applied(session, *Packed(applied));
  }
  // The offer that the agent was sent.
  wire::TransferOfferT offered(const AgentSession& session) const {
    auto offers = sent<wire::TransferOfferT>(session);
    EXPECT_EQ(offers.size(), 1u);
    return offers.empty() ? wire::TransferOfferT() : std::move(offers.back());
  }

  CommittedModel committed_{1'000, 8};
  CatchUp catch_up_{job_, committed_};
};

}  // namespace tributary::round_testing
