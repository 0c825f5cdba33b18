// Predicts the duration of an exchange. Every bucket goes up a tree to its owner and down again
// (core/collective/routes.h). Buckets follow one another, so in a long exchange some port is always
// busy, and in a short one latency dominates. The prediction is the largest of three bounds, plus
// the CPU time on the path of one bucket:
//
//   the work of the busiest port, plus the idle times at its beginning and end
//   the path of one bucket alone, plus what must be encoded or sent before or after it
//   the work of the busiest processor
//
// exchange_replay_test.cc simulates exchanges bucket by bucket and compares the first two with
// them. All functions are pure and cost O(agents * log agents) per kind.
#pragma once

#include <cstdint>
#include <span>

#include "core/cost/exchange_shape.h"
#include "core/link_quality/link_estimate.h"

namespace tributary {

// The size and CPU time of one stage of one bucket. Bytes include envelopes; times are seconds on
// one core.
struct StagePayload {
  StageFlow flow = StageFlow::reduced;
  double up_bytes = 0;
  double down_bytes = 0;   // the combined payload; not used for from_root
  double encode_s = 0;     // per member that sends a payload of its own
  double aggregate_s = 0;  // per payload that is added
};

// The work of an exchange, independent of the network.
struct ExchangeWork {
  std::uint32_t agents = 1;
  std::uint32_t buckets = 1;
  std::span<const StagePayload> stages;  // stages of a bucket of mean size
  double decode_s = 0;   // decoding of a bucket's result at every agent, seconds of one core
  double message_s = 0;  // sending one payload, and the same for receiving it, seconds of one core
  double agent_slowdown = 1;  // of a message's CPU time at an agent, relative to the coordinator
  double byte_s = 0;          // additional seconds per byte of a payload
  double cores = 1;           // cores per agent; below 1 if agents share cores
};

// Payload of a full TCP segment at the usual MTU of 1500 bytes.
inline constexpr double kFrameBytes = 1448;

// The links that an exchange uses.
struct ExchangeNetwork {
  LinkEstimate agents;  // link of the slowest member
  // Link of the coordinator; its alpha is the latency between agents and coordinator.
  LinkEstimate hub;
  // A payload crosses two links, its sender's and its receiver's, and the second one begins when it
  // has a whole frame, so a frame's time on the second link is added to the latency. 0: it is
  // not counted.
  double frame_bytes = 0;
};

// The prediction for one kind of exchange.
struct ExchangeCost {
  wire::Collective kind = wire::Collective::star;
  double seconds = 0;
  // Bytes per exchange at the busiest member, and at the coordinator if it takes part.
  double bytes_sent = 0;
  double bytes_received = 0;
  double hub_bytes_sent = 0;
  double hub_bytes_received = 0;
};

ExchangeCost predict_exchange(wire::Collective kind, const ExchangeWork& work,
                              const ExchangeNetwork& network);

// Predicts the exchange with an aggregator in the network. Stages before the last go by the star on
// `network`. In the last one every agent sends its payload to the aggregator once and gets the sum
// once, on `link` and in small packets, so both directions are busy at the same time. The
// aggregator itself keeps up with its links.
ExchangeCost predict_in_network(const ExchangeWork& work, const ExchangeNetwork& network,
                                const LinkEstimate& link);

// Bytes of a round's messages beside its payloads, for each agent: the plan and the commit, and the
// report. They are those of jobs of a few buckets (readings `down_plans_bytes`,
// `down_commits_bytes` and `up_reports_bytes` of the demonstration).
inline constexpr double kPlanAndCommitBytes = 1000;
inline constexpr double kReportBytes = 650;

// Returns the number of segments into which a result is divided for its upload to the coordinator:
// one for each member, unless they would be smaller than kUploadSegmentBytesMin. Segment j of
// bucket b is uploaded by member (b + j) modulo `agents`.
inline constexpr double kUploadSegmentBytesMin = 4096;
double upload_segments(double result_bytes, std::uint32_t agents);

// Returns the bytes that the busiest member uploads to the coordinator after an exchange among
// peers. Payloads that were not combined are all uploaded.
double settled_bytes(const ExchangeWork& work);
// The same of one member, a number below `work.agents`.
double settled_bytes(const ExchangeWork& work, std::uint32_t member);

// Returns the time of an exchange among peers that takes `exchange_s` alone, with the upload of its
// results over links of `uplink_s_per_byte`. Results are uploaded while later buckets are
// exchanged, unless both use the same links, whose rates are then the same.
double with_upload_s(const ExchangeWork& work, double exchange_s, double uplink_s_per_byte,
                     double peers_s_per_byte);

}  // namespace tributary
