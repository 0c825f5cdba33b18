// tributary-bench-collective: one rank of our collectives over sockets, with the same measurement
// as gloo's program, or over MPI.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <filesystem>
#include <memory>
#include <thread>

#include "bench/collective/captured_update.h"
#include "bench/collective/mpi_ranks.h"
#include "bench/rank.h"
#include "core/base/clock.h"
#include "core/base/files/file.h"
#include "core/codec/registry.h"
#include "core/collective/run.h"
#include "core/net/keys/keys.h"
#include "core/net/mesh/tcp/mesh.h"

namespace tributary::bench {
namespace {

using std::chrono::milliseconds;

// MPI's own algorithm, for comparison.
constexpr const char* kMpiAllreduce = "mpi_allreduce";

struct Arguments {
  RankSettings settings;
  std::string transport = "tcp";
  std::string store;
  std::string algorithm = "sharded_star";
  std::string codec = "fp32";
  std::string captures;
  std::string ready;
  std::uint32_t bucket_values = 256u << 10;
  std::uint32_t port = 0;
  std::uint32_t timeout_s = 60;
  bool encrypted = false;
  bool json = false;
};

Result<wire::Collective> collective_named(const std::string& name) {
  for (const wire::Collective one : wire::EnumValuesCollective()) {
    if (name == wire::EnumNameCollective(one)) return one;
  }
  return Status(StatusCode::not_found, {.what = "collective", .expected = "a name", .got = name});
}

// The ranks find one another through files in a shared folder, like gloo's.
class Meeting {
 public:
  Meeting(const Arguments& arguments, const Clock& clock)
      : folder_(arguments.store),
        clock_(clock),
        deadline_(clock.now() + std::chrono::seconds(arguments.timeout_s)) {}

  Status publish(std::uint32_t rank, const std::string& endpoint, const PublicKey& key) const {
    const std::string path = (folder_ / fmt::format("{}", rank)).string();
    const std::string text = endpoint + " " + key_text(key);
    return write_file_atomically(path, bytes_of(std::string_view(text)));
  }

  Result<MeshMember> find(std::uint32_t rank) const {
    const std::string path = (folder_ / fmt::format("{}", rank)).string();
    while (!std::filesystem::exists(path)) {
      if (clock_.now() >= deadline_) {
        return Status(
            StatusCode::deadline_exceeded,
            {.what = fmt::format("rank {}", rank), .expected = path, .got = "no such file"});
      }
      std::this_thread::sleep_for(milliseconds(2));
    }
    TRIBUTARY_ASSIGN(const Bytes content, read_file(path, 4096));
    const std::string text(content.begin(), content.end());
    const std::size_t space = text.find(' ');
    TRIBUTARY_ASSIGN(const PublicKey key, parse_public_key(text.substr(space + 1)));
    return MeshMember{.endpoint = text.substr(0, space), .key = key};
  }

 private:
  const std::filesystem::path folder_;
  const Clock& clock_;
  const std::chrono::nanoseconds deadline_;
};

Result<std::unique_ptr<Transport>> meet(const Arguments& arguments, const MeshPort& port,
                                        const Clock& clock) {
  TRIBUTARY_ASSIGN(const KeyPair keys, make_key_pair());
  const Meeting meeting(arguments, clock);
  TRIBUTARY_TRY(meeting.publish(arguments.settings.rank, port.endpoint(), keys.public_key));
  MeshOptions options;
  options.rank = arguments.settings.rank;
  options.session = 1;
  for (std::uint32_t rank = 0; rank < arguments.settings.size; ++rank) {
    TRIBUTARY_ASSIGN(MeshMember member, meeting.find(rank));
    options.members.push_back(std::move(member));
  }
  if (arguments.encrypted) options.keys = std::make_shared<const KeyPair>(keys);
  return open_mesh(port, options, clock);
}

// Runs exchanges one after another, each with its own round number.
class Exchanges {
 public:
  Exchanges(const Arguments& arguments, const Codec& codec, const Routes& routes, Transport& mesh,
            CapturedUpdate* captured, const Clock& clock)
      : arguments_(arguments),
        codec_(codec),
        routes_(routes),
        captured_(captured),
        clock_(clock),
        runner_(mesh, clock) {}

  Status all_reduce(FloatVector& update) {
    std::vector<ExchangeBucket> buckets;
    const auto values = static_cast<std::uint32_t>(update.size());
    for (std::uint32_t first = 0; first < values; first += arguments_.bucket_values) {
      const std::uint32_t count = std::min(arguments_.bucket_values, values - first);
      const auto bucket = static_cast<std::uint32_t>(buckets.size());
      if (encoders_.size() <= bucket) encoders_.push_back(codec_.make_encoder(count));
      buckets.push_back({.codec = &codec_,
                         .encoder = encoders_[bucket].get(),
                         .input = std::span<const float>(update).subspan(first, count),
                         .round = {.job_seed = 1, .round = round_ + 1, .bucket = bucket},
                         .optimizer = captured_ ? captured_->view(bucket, count) : nullptr});
    }
    return exchange(routes_, std::move(buckets), aggregators_, update);
  }

  // Two exchanges of one value among all members. The first ends only when all have taken part, but
  // for its owner a latency earlier than for the others. The second, from all to all, then ends
  // everywhere at the same time if latencies are equal. Otherwise the root of a broadcast would
  // have a latency's start over the others, because it is rank 0 like the owner.
  Status barrier() {
    TRIBUTARY_TRY(one_value(wire::Collective::sharded_star));
    return one_value(wire::Collective::all_gather);
  }

 private:
  Status one_value(wire::Collective collective) {
    static const std::unique_ptr<Codec> codec = *make_codec("fp32");
    TRIBUTARY_ASSIGN(const Routes routes, Routes::make(collective, routes_.members()));
    const std::unique_ptr<Encoder> encoder = codec->make_encoder(1);
    FloatVector one(1, 1.0F);
    ExchangeCache aggregators;
    return exchange(routes,
                    {{.codec = codec.get(), .encoder = encoder.get(), .input = one, .round = {}}},
                    aggregators, one);
  }

  // Decodes each bucket as soon as it is whole, into the place of its input.
  Status exchange(const Routes& routes, std::vector<ExchangeBucket> buckets,
                  ExchangeCache& aggregators, std::span<float> update) {
    PeerExchange exchange(routes, arguments_.settings.rank, buckets, aggregators, {});
    return runner_.run(
        exchange, {.id = {.round = wire::RoundId(1, ++round_, 1, 0), .session = 1},
                   .deadline = clock_.now() + std::chrono::seconds(arguments_.timeout_s),
                   .whole = [&](std::uint32_t bucket) {
                     const std::span<const float> input = buckets[bucket].input;
                     scratch_.resize(input.size());
                     const auto first = static_cast<std::size_t>(input.data() - update.data());
                     return exchange.decode(bucket, scratch_, update.subspan(first, input.size()));
                   }});
  }

  const Arguments& arguments_;
  const Codec& codec_;
  const Routes& routes_;
  CapturedUpdate* const captured_;  // null: synthetic values, and no optimizer
  const Clock& clock_;
  ExchangeRunner runner_;
  std::vector<std::unique_ptr<Encoder>> encoders_;
  ExchangeCache aggregators_;
  FloatVector scratch_;
  std::uint64_t round_ = 0;
};

Result<RankFigures> measure_over(Arguments& arguments, Transport& mesh, const Clock& clock) {
  TRIBUTARY_ASSIGN(const std::unique_ptr<Codec> codec, make_codec(arguments.codec));
  TRIBUTARY_ASSIGN(const wire::Collective collective, collective_named(arguments.algorithm));
  TRIBUTARY_ASSIGN(const Routes routes, Routes::make(collective, arguments.settings.size));
  arguments.settings.exact = !codec->lossy();
  std::optional<CapturedUpdate> captured;
  if (!arguments.captures.empty()) {
    TRIBUTARY_ASSIGN(captured, CapturedUpdate::make(arguments.captures, arguments.bucket_values));
    arguments.settings.exact = false;
    arguments.settings.gradient =
        captured->gradient(arguments.settings.rank, arguments.settings.bytes / sizeof(float));
  }
  Exchanges exchanges(arguments, *codec, routes, mesh, captured ? &*captured : nullptr, clock);
  if (!arguments.ready.empty()) {
    TRIBUTARY_TRY(exchanges.barrier());
    TRIBUTARY_TRY(write_file_atomically(arguments.ready, {}));
  }
  return measure_rank(
      arguments.settings,
      {.barrier = [&] { return exchanges.barrier(); },
       .all_reduce = [&](FloatVector& update) { return exchanges.all_reduce(update); }});
}

Result<RankFigures> measure_tcp(Arguments& arguments, const Clock& clock) {
  TRIBUTARY_ASSIGN(
      const std::unique_ptr<MeshPort> port,
      MeshPort::open(fmt::format("tcp://{}:{}", arguments.settings.address, arguments.port)));
  TRIBUTARY_ASSIGN(const std::unique_ptr<Transport> mesh, meet(arguments, *port, clock));
  return measure_over(arguments, *mesh, clock);
}

Result<RankFigures> measure_mpi(Arguments& arguments, MpiRanks& ranks, const Clock& clock) {
  if (arguments.algorithm == kMpiAllreduce) {
    return measure_rank(
        arguments.settings,
        {.barrier = [&] { return ranks.barrier(); },
         .all_reduce = [&](FloatVector& update) { return ranks.all_reduce(update); }});
  }
  TRIBUTARY_ASSIGN(const std::unique_ptr<Transport> mesh,
                   ranks.open_mesh(clock, std::chrono::seconds(arguments.timeout_s)));
  return measure_over(arguments, *mesh, clock);
}

Result<RankFigures> measure(Arguments& arguments) {
  const SystemClock clock;
  if (arguments.transport == "tcp") return measure_tcp(arguments, clock);
  TRIBUTARY_ASSIGN(const std::unique_ptr<MpiRanks> ranks, open_mpi_ranks());
  arguments.settings.rank = ranks->rank();
  arguments.settings.size = ranks->size();
  return measure_mpi(arguments, *ranks, clock);
}

void add_options(CLI::App& app, Arguments& arguments) {
  RankSettings& settings = arguments.settings;
  app.add_option("--transport", arguments.transport,
                 "tcp, or mpi for ranks that mpirun has started (tcp)")
      ->check(CLI::IsMember({"tcp", "mpi"}));
  app.add_option("--rank", settings.rank, "number of this rank, from 0");
  app.add_option("--size", settings.size, "number of ranks")->check(CLI::Range(1u, 1000u));
  app.add_option("--store", arguments.store,
                 "folder in which the ranks find one another; shared, empty before\n"
                 "a run")
      ->check(CLI::ExistingDirectory);
  app.add_option("--address", settings.address, "IP address to listen on");
  app.add_option("--port", arguments.port, "port to listen on (one that is free)")
      ->check(CLI::Range(0u, 65535u));
  app.add_option("--algorithm", arguments.algorithm,
                 "star, sharded_star, ring, tree, halving_doubling or all_gather;\n"
                 "over MPI also mpi_allreduce, MPI's own (sharded_star)");
  app.add_option("--codec", arguments.codec, "codec of the values (fp32)");
  app.add_option("--captures", arguments.captures,
                 "folder of captured gradients to exchange, for example\n"
                 "bench/gradients/captured; codecs then know the optimizer\n"
                 "(synthetic gradients, no optimizer)")
      ->check(CLI::ExistingDirectory);
  app.add_option("--bucket-values", arguments.bucket_values,
                 "number of values in a bucket (262144)")
      ->check(CLI::Range(1u, 1u << 20));
  app.add_option("--bytes", settings.bytes, "size of an update in bytes of float32 (26214400)")
      ->check(CLI::Range(std::uint64_t{4}, std::uint64_t{1} << 32));
  app.add_option("--rounds", settings.rounds, "number of timed rounds (10)")
      ->check(CLI::Range(1u, 100000u));
  app.add_option("--warm-ups", settings.warm_ups, "number of untimed rounds before them (2)")
      ->check(CLI::Range(0u, 1000u));
  app.add_option("--ready", arguments.ready,
                 "file that this rank creates once all ranks are connected; for all\n"
                 "ranks or none (none)");
  app.add_option("--timeout-s", arguments.timeout_s, "limit of each exchange in seconds (60)")
      ->check(CLI::Range(1u, 3600u));
  app.add_flag("--encrypted", arguments.encrypted, "use TLS, as agents do");
  app.add_flag("--json", arguments.json, "print one JSON object instead of text");
}

// Over TCP, rank and meeting folder are options; over MPI, mpirun supplies them.
void check_options(const CLI::App& app, const Arguments& arguments) {
  const bool tcp = arguments.transport == "tcp";
  for (const char* const name : {"--rank", "--size", "--store", "--address"}) {
    if (tcp && app.count(name) == 0) throw CLI::RequiredError(name);
    if (!tcp && app.count(name) > 0) throw CLI::ValidationError(name, "mpirun knows it");
  }
  for (const char* const name : {"--port", "--encrypted"}) {
    if (!tcp && app.count(name) > 0) throw CLI::ValidationError(name, "not with --transport mpi");
  }
  if (tcp && arguments.settings.rank >= arguments.settings.size) {
    throw CLI::ValidationError("--rank", "must be less than --size");
  }
  const bool own = arguments.algorithm == kMpiAllreduce;
  if (own && !arguments.ready.empty()) {
    throw CLI::ValidationError("--ready", "not with mpi_allreduce");
  }
  if (own && (tcp || arguments.codec != "fp32")) {
    throw CLI::ValidationError("--algorithm", "mpi_allreduce goes with --transport mpi and fp32");
  }
}

std::string program_name(const Arguments& arguments) {
  if (arguments.algorithm == kMpiAllreduce) return "MPI";
  if (arguments.transport == "mpi") return "tributary over MPI";
  return arguments.encrypted ? "tributary encrypted" : "tributary";
}

int run(int argc, char** argv) {
  Arguments arguments;
  CLI::App app(
      "runs one rank of a collective over TCP or MPI and measures its rounds\n\n"
      "The sum of each round is verified if the codec is lossless. Otherwise compare the ranks'\n"
      "sums_hash.");
  add_options(app, arguments);
  try {
    app.parse(argc, argv);
    check_options(app, arguments);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  const Result<RankFigures> figures = measure(arguments);
  if (!figures.ok()) {
    fmt::print(stderr, "tributary-bench-collective: {}\n", figures.status().text());
    return 1;
  }
  const auto text = arguments.json ? figures_json : figures_text;
  fmt::print("{}",
             text(program_name(arguments), arguments.algorithm, arguments.settings, *figures));
  return 0;
}

}  // namespace
}  // namespace tributary::bench

int main(int argc, char** argv) { return tributary::bench::run(argc, argv); }
