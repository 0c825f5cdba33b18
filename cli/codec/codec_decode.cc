// tributary codec decode: decodes a file that 'codec encode' has written.
#include <memory>

#include "cli/accept.h"
#include "cli/codec/file_report.h"
#include "cli/commands.h"
#include "core/base/files/file.h"
#include "core/base/files/input_file.h"
#include "core/base/thread_pool.h"
#include "core/codec/file/encoded_file.h"

namespace tributary {
namespace {

// Codec, bucket size and seed are not options: the file states them.
struct DecodeOptions {
  std::string in;
  std::string out;
  std::size_t threads = hardware_threads();
};

Result<Answer> decode(const DecodeOptions& options, World& world) {
  const auto start = world.clock.now();
  TRIBUTARY_ASSIGN(const InputFile in, InputFile::open(options.in));
  TRIBUTARY_ASSIGN(AtomicFile out, AtomicFile::open(options.out));
  ThreadPool pool(options.threads);
  Result<EncodedFileHeader> header =
      decode_file(in,
                  {.execution = {.pool = &pool},
                   .progress =
                       [&](std::uint64_t done, std::uint64_t total) {
                         return world.progress.report("decoding", done, total);
                       }},
                  [&](ByteSpan piece) { return out.append(piece); });
  if (!header.ok()) {
    // Errors of the operating system already name their file.
    Status status = std::move(header).status();
    return status.code() == StatusCode::io_error ? std::move(status)
                                                 : std::move(status).at(options.in);
  }
  // Only now does the file take its name, so a failure above leaves an existing file unchanged.
  TRIBUTARY_TRY(out.commit());
  return file_answer({.in = options.in,
                      .out = options.out,
                      .codec = header->spec,
                      .bucket_values = header->bucket_values,
                      .job_seed = header->job_seed,
                      .float_bytes = header->values * sizeof(float),
                      .encoded_bytes = in.size(),
                      .encoding = false,
                      .time = world.clock.now() - start});
}

}  // namespace

Command codec_decode_command() {
  const auto options = std::make_shared<DecodeOptions>();
  return {.noun = "codec",
          .verb = "decode",
          .summary = "decode a file written by 'codec encode'",
          .details =
              "The file names its codec. The output is written completely or not "
              "at all.\n\n"
              "examples:\n"
              "  tributary codec decode --in update.int8 --out update.f32\n"
              "  tributary codec decode --in update.enc --out update.f32 --json",
          .options = {{.name = "--in",
                       .value_name = "FILE",
                       .help = "file to decode",
                       .accept = accept_file(options->in),
                       .required = true},
                      {.name = "--out",
                       .value_name = "FILE",
                       .help = "file for the float32 values; may be the input file",
                       .accept = accept_file(options->out),
                       .required = true},
                      {.name = "--threads",
                       .value_name = "N",
                       .help = "number of threads (one per processor)",
                       .accept = accept_count<std::size_t>(options->threads, 1,
                                                           ThreadPool::kThreadsMax)}},
          .run = [options](World& world) { return decode(*options, world); }};
}

}  // namespace tributary
