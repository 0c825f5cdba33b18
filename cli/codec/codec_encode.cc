// tributary codec encode: encodes a file of float32 values with one codec.
#include <memory>

#include "cli/accept.h"
#include "cli/codec/file_report.h"
#include "cli/commands.h"
#include "core/base/files/file.h"
#include "core/base/files/input_file.h"
#include "core/base/thread_pool.h"
#include "core/codec/file/encoded_file.h"
#include "core/codec/payload.h"

namespace tributary {
namespace {

// The defaults; the codec has none and is required.
struct EncodeOptions {
  std::unique_ptr<Codec> codec;
  std::string in;
  std::string out;
  EncodedFileOptions file;
  std::size_t threads = hardware_threads();
};

Result<Answer> encode(const EncodeOptions& options, World& world) {
  const auto start = world.clock.now();
  TRIBUTARY_ASSIGN(const InputFile in, InputFile::open(options.in));
  // A temporary file beside the target. It takes the name with commit(), so an interrupted run
  // leaves the old file, and --out may name the input.
  TRIBUTARY_ASSIGN(AtomicFile out, AtomicFile::open(options.out));
  ThreadPool pool(options.threads);
  std::uint64_t bytes_out = 0;
  Status status = encode_file(*options.codec, options.file, in,
                              {.execution = {.pool = &pool},
                               .progress =
                                   [&](std::uint64_t done, std::uint64_t total) {
                                     return world.progress.report("encoding", done, total);
                                   }},
                              [&](ByteSpan piece) {
                                bytes_out += piece.size();
                                return out.append(piece);
                              });
  // Errors of the operating system already name their file.
  if (!status.ok() && status.code() != StatusCode::io_error) {
    return std::move(status).at(options.in);
  }
  TRIBUTARY_TRY(std::move(status));
  TRIBUTARY_TRY(out.commit());
  return file_answer({.in = options.in,
                      .out = options.out,
                      .codec = options.codec->spec(),
                      .bucket_values = options.file.bucket_values,
                      .job_seed = options.file.job_seed,
                      .float_bytes = in.size(),
                      .encoded_bytes = bytes_out,
                      .encoding = true,
                      .time = world.clock.now() - start});
}

}  // namespace

Command codec_encode_command() {
  const auto options = std::make_shared<EncodeOptions>();
  return {.noun = "codec",
          .verb = "encode",
          .summary = "encode a file of float32 values",
          .details =
              "Values are little-endian float32 without a header. The output names its codec, "
              "so decoding needs\nno --codec. It is written completely or not at all.\n\n"
              "examples:\n"
              "  tributary codec encode --codec int8 --in update.f32 --out update.int8\n"
              "  tributary codec encode --codec int8:block=1024,rounding=random \\\n"
              "      --in update.f32 --out update.enc --bucket-values 1Mi --threads 4 --json",
          .options = {{.name = "--codec",
                       .value_name = "SPEC",
                       .help = "codec; 'codec list' shows all",
                       .accept = accept_codec(options->codec),
                       .required = true},
                      {.name = "--in",
                       .value_name = "FILE",
                       .help = "file to encode",
                       .accept = accept_file(options->in),
                       .required = true},
                      {.name = "--out",
                       .value_name = "FILE",
                       .help = "file to write; may be the input file",
                       .accept = accept_file(options->out),
                       .required = true},
                      {.name = "--bucket-values",
                       .value_name = "N",
                       .help = "values per bucket (16Mi)",
                       .accept = accept_count(options->file.bucket_values, 1u, kBucketValuesMax)},
                      {.name = "--seed",
                       .value_name = "N",
                       .help = "seed of the job, for random draws (1)",
                       .accept = accept_count<std::uint64_t>(options->file.job_seed, 0)},
                      {.name = "--threads",
                       .value_name = "N",
                       .help = "number of threads (one per processor)",
                       .accept = accept_count<std::size_t>(options->threads, 1,
                                                           ThreadPool::kThreadsMax)}},
          .run = [options](World& world) { return encode(*options, world); }};
}

}  // namespace tributary
