#include "core/codec/file/encoded_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "core/codec/chunks.h"
#include "core/codec/payload.h"
#include "core/codec/registry.h"

namespace tributary {
namespace {

constexpr const char* kRemedy = "copy the file again, or encode the update again";
constexpr std::size_t kRecordHeaderBytes = 8;
// The smallest possible payload has its fixed header and a spec of one letter.
constexpr std::size_t kRecordBytesMin = kRecordHeaderBytes + kPayloadFixedHeaderBytes + 8;

// Several small buckets are processed as one batch, so that the threads have enough work. A large
// bucket is a batch of its own and is divided among the threads internally. The limits also bound
// memory: 64 MiB of float32 values and about 64 MiB of payloads, apart from a bucket that is
// larger.
constexpr std::uint64_t kBatchValues = 16u << 20;
constexpr std::uint64_t kBatchBytes = 64u << 20;
constexpr std::uint64_t kBatchBucketsMax = 256;

constexpr std::size_t padded(std::size_t bytes) { return (bytes + 7) / 8 * 8; }

std::uint64_t buckets_at_once(const EncodedFileHeader& header, std::uint64_t first) {
  const auto fitting =
      std::clamp<std::uint64_t>(kBatchValues / header.bucket_values, 1, kBatchBucketsMax);
  return std::min(fitting, header.buckets() - first);
}

// A bucket of the current batch, while it is encoded or decoded.
struct BucketInWork {
  std::uint64_t index = 0;
  std::uint64_t place = 0;  // decoding only: byte offset of its first record in the file
  FloatVector values;
  std::vector<Bytes> payloads;  // one per stage
  Status status;
};

// Runs body(bucket) for the batch, possibly in parallel, and stores each result in bucket.status.
// The caller reads the statuses in order, so the reported error does not depend on the threads.
template <typename Body>
void for_each_bucket(const Execution& execution, std::vector<BucketInWork>& batch,
                     const Body& body) {
  for_each_chunk(execution, batch.size(), 1, [&](std::size_t i, std::size_t, std::size_t) {
    batch[i].status = body(batch[i]);
  });
}

RoundContext round_of(const EncodedFileHeader& header, const BucketInWork& bucket) {
  return {.job_seed = header.job_seed,
          .round = header.round,
          .bucket = static_cast<std::uint32_t>(bucket.index)};
}

Status stopped() {
  return Status(StatusCode::cancelled, {.what = "encoded file", .got = "a stop"});
}

// Collects small writes, so that the sink receives pieces of about 1 MiB.
class PieceWriter {
 public:
  explicit PieceWriter(ByteSink sink) : sink_(sink) {}

  Status append(ByteSpan bytes) {
    if (pending_.size() + bytes.size() > kPieceBytes) TRIBUTARY_TRY(flush());
    if (bytes.size() > kPieceBytes) return sink_(bytes);
    pending_.insert(pending_.end(), bytes.begin(), bytes.end());
    return {};
  }
  Status flush() {
    if (!pending_.empty()) TRIBUTARY_TRY(sink_(pending_));
    pending_.clear();
    return {};
  }

 private:
  static constexpr std::size_t kPieceBytes = 1 << 20;
  ByteSink sink_;
  Bytes pending_;
};

// ------------------------------ encoding

// Checks the input and fills in the header before anything is written.
Result<EncodedFileHeader> plan_encoding(const Codec& codec, const EncodedFileOptions& options,
                                        std::uint64_t bytes) {
  if (bytes % sizeof(float) != 0) {
    return Status(StatusCode::corrupt_data,
                  {.what = "update",
                   .expected = "float32 values: a multiple of 4 bytes",
                   .got = fmt::format("{} bytes", bytes),
                   .remedy = "check that the file is raw float32 and complete"});
  }
  if (options.bucket_values == 0 || options.bucket_values > kBucketValuesMax) {
    return Status(StatusCode::invalid_argument,
                  {.what = "values in a bucket",
                   .expected = fmt::format("1 to {}", kBucketValuesMax),
                   .got = fmt::format("{}", options.bucket_values)});
  }
  EncodedFileHeader header = {.spec = codec.spec(),
                              .values = bytes / sizeof(float),
                              .bucket_values = options.bucket_values,
                              .job_seed = options.job_seed,
                              .round = options.round};
  if (header.buckets() > kEncodedFileBucketsMax) {
    return Status(StatusCode::resource_exhausted,
                  {.what = "buckets of the file",
                   .expected = fmt::format("at most {}", kEncodedFileBucketsMax),
                   .got = fmt::format("{}", header.buckets()),
                   .remedy = "use larger buckets"});
  }
  return header;
}

Status read_values(const EncodedFileHeader& header, const ByteSource& floats, std::uint64_t first,
                   std::vector<BucketInWork>& batch) {
  batch.resize(buckets_at_once(header, first));
  for (std::size_t i = 0; i < batch.size(); ++i) {
    BucketInWork& bucket = batch[i];
    bucket.index = first + i;
    bucket.values.resize(header.values_of_bucket(bucket.index));
    TRIBUTARY_TRY(floats.read(bucket.index * header.bucket_values * sizeof(float),
                              {reinterpret_cast<std::uint8_t*>(bucket.values.data()),
                               bucket.values.size() * sizeof(float)}));
  }
  return {};
}

// Replaces a payload of a stage by the combined payload of that stage for a single agent.
Status combine_alone(const Codec& codec, const StageCall& call, std::uint32_t values,
                     Bytes& payload) {
  const auto aggregator = codec.make_aggregator(call.stage(), values);
  TRIBUTARY_TRY(aggregator->begin(call, {}));
  TRIBUTARY_TRY(aggregator->add(call, payload));
  Bytes combined;
  TRIBUTARY_TRY(aggregator->finish(call, combined));
  payload.swap(combined);
  return {};
}

Status encode_bucket(const Codec& codec, const RoundContext& round, const Execution& execution,
                     BucketInWork& bucket) {
  const auto values = static_cast<std::uint32_t>(bucket.values.size());
  const std::size_t stages = codec.stages().size();
  const auto encoder = codec.make_encoder(values);
  bucket.payloads.resize(stages);
  std::vector<ByteSpan> combined;
  for (std::size_t stage = 0; stage < stages; ++stage) {
    const StageCall call = {.round = round, .execution = execution, .combined = combined};
    Bytes& payload = bucket.payloads[stage];
    TRIBUTARY_TRY(encoder->encode(call, bucket.values, payload));
    // One agent's payload of the last stage can be decoded without an aggregator. With some codecs
    // an aggregator would decode and encode it again, and lose precision a second time.
    if (stage + 1 < stages) TRIBUTARY_TRY(combine_alone(codec, call, values, payload));
    combined.push_back(payload);
  }
  return {};
}

// Adds the position in the file to a status that only knows the position within the bucket.
Status place_in_file(const EncodedFileHeader& header, const BucketInWork& bucket, Status status) {
  const std::uint64_t first = bucket.index * header.bucket_values;
  if (status.code() == StatusCode::not_finite) {
    const auto bad =
        std::ranges::find_if_not(bucket.values, [](float x) { return std::isfinite(x); });
    if (bad != bucket.values.end()) {
      return Status(
          StatusCode::not_finite,
          {.what = fmt::format("element {}", first + std::uint64_t(bad - bucket.values.begin())),
           .expected = "a finite number",
           .got = fmt::format("{}", *bad),
           .remedy = "mend what wrote it, or use a lossless codec such as fp32"});
    }
  }
  return std::move(status).at(fmt::format("bucket {} (from element {})", bucket.index, first));
}

Status write_records(const BucketInWork& bucket, PieceWriter& writer) {
  constexpr std::uint8_t kZeros[8] = {};
  for (const Bytes& payload : bucket.payloads) {
    const std::uint32_t record[] = {static_cast<std::uint32_t>(payload.size()),
                                    static_cast<std::uint32_t>(bucket.index)};
    static_assert(sizeof(record) == kRecordHeaderBytes);
    TRIBUTARY_TRY(writer.append(bytes_of(std::span<const std::uint32_t>(record))));
    TRIBUTARY_TRY(writer.append(payload));
    TRIBUTARY_TRY(writer.append(ByteSpan(kZeros).first(padded(payload.size()) - payload.size())));
  }
  return {};
}

// ------------------------------ decoding

// Makes the codec that the header names. A spec that is not canonical would disagree with the
// payloads' own specs.
Result<std::unique_ptr<Codec>> codec_of(const EncodedFileHeader& header) {
  Result<std::unique_ptr<Codec>> codec = make_codec(header.spec);
  if (!codec.ok()) {
    Fault fault = codec.status().fault();
    fault.what = "encoded file, spec: " + fault.what;
    fault.remedy = "decode it with the release that wrote it";
    return Status(StatusCode::unsupported, std::move(fault));
  }
  if ((*codec)->spec() != header.spec) {
    return Status(StatusCode::corrupt_data,
                  {.what = "encoded file, spec",
                   .expected = fmt::format("the canonical '{}'", (*codec)->spec()),
                   .got = fmt::format("'{}'", header.spec),
                   .remedy = kRemedy});
  }
  return codec;
}

// Reads records in sequence and checks every field. An error names the byte offset of the record.
class RecordReader {
 public:
  RecordReader(const ByteSource& source, std::uint64_t position)
      : source_(source), position_(position) {}

  std::uint64_t position() const { return position_; }
  std::uint64_t remaining() const { return source_.size() - position_; }

  Status read(std::uint64_t bucket, Bytes& payload) {
    std::uint32_t record[2];
    if (remaining() < sizeof(record)) return fault("a record's header of 8 bytes", "the end");
    TRIBUTARY_TRY(
        source_.read(position_, {reinterpret_cast<std::uint8_t*>(record), sizeof(record)}));
    const auto [bytes, stated_bucket] = record;
    if (stated_bucket != bucket) {
      return fault(fmt::format("a record of bucket {}", bucket),
                   fmt::format("one of bucket {}", stated_bucket));
    }
    // Bounds the allocation by the rest of the file.
    const std::uint64_t available =
        std::min<std::uint64_t>(remaining() - sizeof(record), kPayloadBytesMax);
    if (padded(bytes) > available) {
      return fault(fmt::format("a payload of at most {} bytes", available),
                   fmt::format("{}", bytes));
    }
    payload.resize(padded(bytes));
    TRIBUTARY_TRY(source_.read(position_ + sizeof(record), payload));
    for (std::size_t i = bytes; i < payload.size(); ++i) {
      if (payload[i] != 0) return fault("zeros behind the payload", "something else");
    }
    position_ += sizeof(record) + payload.size();
    payload.resize(bytes);
    return {};
  }

  Status expect_end() const {
    if (remaining() == 0) return {};
    return fault("the end", fmt::format("{} bytes more", remaining()));
  }

 private:
  Status fault(std::string expected, std::string got) const {
    return corrupt_encoded_file(position_, std::move(expected), std::move(got));
  }

  const ByteSource& source_;
  std::uint64_t position_;
};

// Reads the next batch. The batch ends early when its payloads exceed kBatchBytes.
Status read_records(const EncodedFileHeader& header, std::size_t stages, std::uint64_t first,
                    RecordReader& reader, std::vector<BucketInWork>& batch) {
  const std::uint64_t start = reader.position();
  batch.resize(buckets_at_once(header, first));
  for (std::size_t i = 0; i < batch.size(); ++i) {
    if (reader.position() - start >= kBatchBytes) {
      batch.resize(i);
      break;
    }
    BucketInWork& bucket = batch[i];
    bucket.index = first + i;
    bucket.place = reader.position();
    bucket.payloads.resize(stages);
    for (Bytes& payload : bucket.payloads) TRIBUTARY_TRY(reader.read(bucket.index, payload));
    bucket.values.resize(header.values_of_bucket(bucket.index));
  }
  return {};
}

Status decode_bucket(const Codec& codec, const RoundContext& round, const Execution& execution,
                     BucketInWork& bucket) {
  const std::vector<ByteSpan> payloads(bucket.payloads.begin(), bucket.payloads.end());
  const StageCall call = {.round = round,
                          .execution = execution,
                          .combined = std::span(payloads).first(payloads.size() - 1)};
  return codec.decode(call, payloads.back(), bucket.values);
}

// Every payload must match the file's header, so any disagreement is reported as a damaged file.
Status corrupt_bucket(const BucketInWork& bucket) {
  Fault fault = bucket.status.fault();
  fault.what =
      fmt::format("encoded file, bucket {} at byte {}: {}", bucket.index, bucket.place, fault.what);
  fault.remedy = kRemedy;
  // A limit of this build is no damage; the file may be valid for another build.
  const bool cap = bucket.status.code() == StatusCode::resource_exhausted;
  return Status(cap ? StatusCode::resource_exhausted : StatusCode::corrupt_data, std::move(fault));
}

// Refuses a number of buckets that cannot fit in a file of this size, before any memory is
// allocated for it.
Status check_claim(const EncodedFileHeader& header, std::size_t stages, std::uint64_t available) {
  const std::uint64_t payloads_max = available / kRecordBytesMin;
  if (header.buckets() * stages <= payloads_max) return {};
  return corrupt_encoded_file(
      16, fmt::format("at most {} payloads in {} bytes", payloads_max, available),
      fmt::format("{} buckets with {}", header.buckets(), stages));
}

}  // namespace

Status encode_file(const Codec& codec, const EncodedFileOptions& options, const ByteSource& floats,
                   const EncodedFileWork& work, ByteSink encoded) {
  TRIBUTARY_ASSIGN(const EncodedFileHeader header, plan_encoding(codec, options, floats.size()));
  PieceWriter writer(encoded);
  TRIBUTARY_TRY(writer.append(encoded_file_header_bytes(header)));
  std::vector<BucketInWork> batch;
  std::uint64_t values_done = 0;
  for (std::uint64_t first = 0; first < header.buckets(); first += batch.size()) {
    TRIBUTARY_TRY(read_values(header, floats, first, batch));
    for_each_bucket(work.execution, batch, [&](BucketInWork& bucket) {
      return encode_bucket(codec, round_of(header, bucket), work.execution, bucket);
    });
    for (BucketInWork& bucket : batch) {
      if (!bucket.status.ok()) return place_in_file(header, bucket, std::move(bucket.status));
      TRIBUTARY_TRY(write_records(bucket, writer));
      values_done += bucket.values.size();
    }
    if (work.progress && !work.progress(values_done, header.values)) return stopped();
  }
  return writer.flush();
}

Result<EncodedFileHeader> decode_file(const ByteSource& encoded, const EncodedFileWork& work,
                                      ByteSink floats) {
  TRIBUTARY_ASSIGN(const ReadEncodedFileHeader start, read_encoded_file_header(encoded));
  const EncodedFileHeader& header = start.header;
  TRIBUTARY_ASSIGN(const std::unique_ptr<Codec> codec, codec_of(header));
  const std::size_t stages = codec->stages().size();
  RecordReader reader(encoded, start.bytes);
  TRIBUTARY_TRY(check_claim(header, stages, reader.remaining()));
  PieceWriter writer(floats);
  std::vector<BucketInWork> batch;
  std::uint64_t values_done = 0;
  for (std::uint64_t first = 0; first < header.buckets(); first += batch.size()) {
    TRIBUTARY_TRY(read_records(header, stages, first, reader, batch));
    for_each_bucket(work.execution, batch, [&](BucketInWork& bucket) {
      return decode_bucket(*codec, round_of(header, bucket), work.execution, bucket);
    });
    for (BucketInWork& bucket : batch) {
      if (!bucket.status.ok()) return corrupt_bucket(bucket);
      TRIBUTARY_TRY(writer.append(bytes_of(std::span<const float>(bucket.values))));
      values_done += bucket.values.size();
    }
    if (work.progress && !work.progress(values_done, header.values)) return stopped();
  }
  TRIBUTARY_TRY(reader.expect_end());
  TRIBUTARY_TRY(writer.flush());
  return header;
}

}  // namespace tributary
