#include "core/collective/run.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>
#include <vector>

namespace tributary {
namespace {

class Run {
 public:
  Run(PeerExchange& exchange, Mesh& mesh, const Clock& clock, const ExchangeRun& run)
      : exchange_(exchange), mesh_(mesh), clock_(clock), run_(run), told_(exchange.buckets()) {}

  Status play() {
    for (std::uint32_t bucket = 0; bucket < exchange_.buckets(); ++bucket) {
      TRIBUTARY_TRY(exchange_.begin(bucket, sends_));
      TRIBUTARY_TRY(pass_on(bucket));
      // What has come meanwhile may wait no longer than a bucket takes to encode.
      TRIBUTARY_ASSIGN(const bool came, step(std::chrono::nanoseconds(0)));
      static_cast<void>(came);
    }
    while (exchange_.buckets_open() > 0 || mesh_.waiting_bytes() > 0) {
      TRIBUTARY_ASSIGN(const bool came, step(run_.deadline));
      if (!came && clock_.now() >= run_.deadline) return too_late();
    }
    return {};
  }

 private:
  // One event, if there is one before the deadline.
  Result<bool> step(std::chrono::nanoseconds deadline) {
    TRIBUTARY_ASSIGN(std::optional<MeshEvent> event, mesh_.receive(deadline));
    if (!event) return false;
    if (auto* const lost = std::get_if<MeshLost>(&*event)) {
      // Whoever has everything may go before the others have.
      if (exchange_.needs(lost->member) || mesh_.waiting_bytes() > 0) return std::move(lost->why);
      return true;
    }
    if (auto* const message = std::get_if<MeshMessage>(&*event)) TRIBUTARY_TRY(take(*message));
    return true;
  }

  Status take(MeshMessage& message) {
    Result<Piece> piece =
        read_piece(run_.id, message.from, message.frame, message.payload.view());
    if (!piece.ok() && piece.status().code() == StatusCode::cancelled) return {};
    if (!piece.ok()) {
      return std::move(piece).status().at(fmt::format("member {}", message.from));
    }
    if (Status status =
            exchange_.receive(message.from, *piece, std::move(message.payload), sends_);
        !status.ok()) {
      return std::move(status).at(fmt::format("member {}", message.from));
    }
    return pass_on(piece->bucket);
  }

  Status pass_on(std::uint32_t bucket) {
    for (PeerSend& send : std::exchange(sends_, {})) {
      TRIBUTARY_ASSIGN(Bytes frame, piece_frame(run_.id, send.piece,
                                                exchange_.is_last_stage(send.piece),
                                                send.payload.view()));
      TRIBUTARY_TRY(mesh_.send(send.to, std::move(frame), std::move(send.payload)));
    }
    if (told_[bucket] || !exchange_.whole(bucket)) return {};
    told_[bucket] = true;
    return run_.whole ? run_.whole(bucket) : Status();
  }

  Status too_late() const {
    return Status(StatusCode::deadline_exceeded,
                  {.what = fmt::format("an exchange, with {} of {} buckets open",
                                       exchange_.buckets_open(), exchange_.buckets()),
                   .expected = "all of them whole in time",
                   .got = fmt::format("nothing more from members {}",
                                      fmt::join(exchange_.waiting_for(), ", ")),
                   .remedy = "exchange by the coordinator, or allow more time"});
  }

  PeerExchange& exchange_;
  Mesh& mesh_;
  const Clock& clock_;
  const ExchangeRun& run_;
  std::vector<bool> told_;
  PeerSends sends_;
};

}  // namespace

Status run_exchange(PeerExchange& exchange, Mesh& mesh, const Clock& clock,
                    const ExchangeRun& run) {
  return Run(exchange, mesh, clock, run).play();
}

}  // namespace tributary
