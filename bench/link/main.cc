// tributary-bench-estimate: two ends of a link. The first end measures it with round trips and
// trains, and prints the result of its estimator.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstring>
#include <memory>
#include <string>
#include <thread>

#include "core/base/clock.h"
#include "core/link_quality/link_estimator.h"
#include "core/net/mesh/tcp/mesh.h"

namespace tributary::bench {
namespace {

constexpr std::uint32_t kFirst = 0;
constexpr std::uint32_t kSecond = 1;
constexpr std::size_t kPartBytes = 64u << 10;
constexpr std::chrono::seconds kPatience{60};
// Types of messages, the first byte of a frame. The answer to a train has the bytes and seconds of
// the train after it.
constexpr std::uint8_t kTrip = 'p';
constexpr std::uint8_t kPart = 't';
constexpr std::uint8_t kLastPart = 'l';
constexpr std::uint8_t kEnd = 'q';
constexpr double kTripBytes = 200;  // a round trip with all headers

struct Arguments {
  std::uint32_t rank = 0;
  std::string addresses[2];
  std::uint32_t port = 4660;
  std::uint32_t trains = 12;
  std::uint64_t train_bytes = 4u << 20;
  double pause_s = 0.5;
};

Status failed(std::string what) {
  return Status(StatusCode::unavailable, {.what = std::move(what)});
}

// One end of the link. The first one measures, the second one answers.
class End {
 public:
  End(const Arguments& arguments, Transport& mesh) : arguments_(arguments), mesh_(mesh) {}

  Status measure() {
    const std::chrono::duration<double> pause(arguments_.pause_s);
    for (std::uint32_t i = 0; i < arguments_.trains; ++i) {
      TRIBUTARY_TRY(trip());
      TRIBUTARY_TRY(train());
      std::this_thread::sleep_for(pause);
    }
    print();
    TRIBUTARY_TRY(send(kSecond, {kEnd}));
    return drain();
  }

  // Echoes round trips. For a train it reports the bytes after the first part, and the time they
  // took.
  Status answer() {
    std::chrono::nanoseconds first{0};
    double bytes = 0;
    for (;;) {
      TRIBUTARY_ASSIGN(const Received message, next());
      switch (message.frame[0]) {
        case kEnd:
          return {};
        case kTrip:
          TRIBUTARY_TRY(send(kFirst, {kTrip}));
          break;
        case kPart:
        case kLastPart: {
          if (first.count() == 0) {
            first = clock_.now();
          } else {
            bytes += static_cast<double>(message.frame.size() + message.payload.size());
          }
          if (message.frame[0] == kPart) break;
          const double figures[] = {bytes, seconds(clock_.now() - first)};
          Bytes figures_frame(sizeof(figures) + 1, kLastPart);
          std::memcpy(figures_frame.data() + 1, figures, sizeof(figures));
          TRIBUTARY_TRY(send(kFirst, std::move(figures_frame)));
          first = std::chrono::nanoseconds(0);
          bytes = 0;
          break;
        }
        default:
          return failed("a message of neither kind");
      }
    }
  }

 private:
  static double seconds(std::chrono::nanoseconds time) {
    return std::chrono::duration<double>(time).count();
  }

  Status send(std::uint32_t to, Bytes frame, SharedSlice payload = {}) {
    return mesh_.send(to, std::move(frame), std::move(payload));
  }

  Result<Received> next() {
    const auto deadline = clock_.now() + kPatience;
    while (clock_.now() < deadline) {
      TRIBUTARY_ASSIGN(std::optional<LinkEvent> event, mesh_.receive(deadline));
      if (!event) continue;
      if (auto* message = std::get_if<Received>(&*event)) {
        if (message->frame.empty()) return failed("an empty message");
        return std::move(*message);
      }
      if (const auto* lost = std::get_if<Disconnected>(&*event)) return lost->why;
    }
    return failed("the other end");
  }

  // Waits until everything has been passed to the operating system; leaving earlier would lose it.
  Status drain() {
    while (mesh_.waiting_bytes() > 0) {
      TRIBUTARY_TRY(mesh_.receive(clock_.now() + std::chrono::milliseconds(10)).status());
    }
    return {};
  }

  void take(TransferKind kind, double bytes, double took_s) {
    estimator_.add(
        {.kind = kind, .bytes = bytes, .seconds = took_s, .at_s = seconds(clock_.now())});
  }

  Status trip() {
    const auto began = clock_.now();
    TRIBUTARY_TRY(send(kSecond, {kTrip}));
    TRIBUTARY_TRY(next().status());
    take(TransferKind::round_trip, kTripBytes, seconds(clock_.now() - began));
    return {};
  }

  // Sends a train and takes the receiver's figures. Two parts more than its size: the first one
  // only starts the clock, and the last one ends the train.
  Status train() {
    const std::uint64_t parts = arguments_.train_bytes / kPartBytes + 2;
    for (std::uint64_t i = 1; i <= parts; ++i) {
      TRIBUTARY_TRY(send(kSecond, {i == parts ? kLastPart : kPart}, part_));
    }
    TRIBUTARY_ASSIGN(const Received figures_frame, next());
    double figures[2];
    if (figures_frame.frame.size() != sizeof(figures) + 1) return failed("a train's figures");
    std::memcpy(figures, figures_frame.frame.data() + 1, sizeof(figures));
    take(TransferKind::train, figures[0], figures[1]);
    return {};
  }

  void print() const {
    const MeasuredLink link = estimator_.measured(seconds(clock_.now()));
    fmt::print(R"({{"alpha_s": {}, "alpha_confidence": {:.3f}, "beta_s_per_byte": {}, )"
               R"("beta_confidence": {:.3f}, "ignored": {}}})"
               "\n",
               link.alpha_s.value, link.alpha_s.confidence, link.beta_s_per_byte.value,
               link.beta_s_per_byte.confidence, estimator_.ignored());
  }

  const Arguments& arguments_;
  Transport& mesh_;
  const SystemClock clock_;
  const SharedSlice part_ = Bytes(kPartBytes, 0x5a);
  LinkEstimator estimator_;
};

Status run(const Arguments& arguments) {
  const SystemClock clock;
  const auto endpoint = [&](std::uint32_t rank) {
    return fmt::format("tcp://{}:{}", arguments.addresses[rank], arguments.port + rank);
  };
  TRIBUTARY_ASSIGN(const std::unique_ptr<MeshPort> port, MeshPort::open(endpoint(arguments.rank)));
  MeshOptions options;
  options.rank = arguments.rank;
  options.members = {{.endpoint = endpoint(kFirst), .key = {}},
                     {.endpoint = endpoint(kSecond), .key = {}}};
  options.session = 1;
  TRIBUTARY_ASSIGN(const std::unique_ptr<Transport> mesh, open_mesh(*port, options, clock));
  End end(arguments, *mesh);
  return arguments.rank == kFirst ? end.measure() : end.answer();
}

int main_of(int argc, char** argv) {
  Arguments arguments;
  CLI::App app("measures the link between two processes of this program",
               "tributary-bench-estimate");
  app.add_option("--rank", arguments.rank, "0 measures and prints, 1 answers")
      ->required()
      ->check(CLI::Range(0, 1));
  app.add_option("--first", arguments.addresses[kFirst], "address of rank 0")->required();
  app.add_option("--second", arguments.addresses[kSecond], "address of rank 1")->required();
  app.add_option("--port", arguments.port, "TCP port of rank 0; rank 1 uses the next one (4660)");
  app.add_option("--trains", arguments.trains,
                 "number of packet trains, each after a round trip (12)");
  app.add_option("--train-bytes", arguments.train_bytes, "size of a train in bytes (4194304)");
  app.add_option("--pause-s", arguments.pause_s, "pause between trains in seconds (0.5)");
  CLI11_PARSE(app, argc, argv);
  const Status status = run(arguments);
  if (status.ok()) return 0;
  fmt::print(stderr, "tributary-bench-estimate: {}\n", status.text());
  return 1;
}

}  // namespace
}  // namespace tributary::bench

int main(int argc, char** argv) { return tributary::bench::main_of(argc, argv); }
