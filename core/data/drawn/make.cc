#include "core/data/drawn/make.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "core/base/files/file.h"
#include "core/data/drawn/digits.h"
#include "core/data/drawn/shapes.h"
#include "core/data/drawn/story.h"
#include "core/data/formats/idx.h"

namespace tributary {
namespace {

namespace fs = std::filesystem;

// Pictures that are held in memory at a time.
constexpr std::uint32_t kPicturesAtOnce = 512;
// CIFAR-10's own batch size, so that readers of the original accept the files.
constexpr std::uint32_t kPicturesPerBatch = 10'000;

// Writes the files under temporary names and puts them in place together at commit(). A Maker that
// is destroyed earlier leaves no file.
class Maker {
 public:
  explicit Maker(const MakeRequest& request) : request_(request) {}

  Status make_digits() {
    TRIBUTARY_TRY(digits_of(DataPart::train, "train", drawn(request_.count)));
    return digits_of(DataPart::test, "t10k", drawn(request_.test_count));
  }

  Status make_shapes() {
    const std::uint32_t count = drawn(request_.count);
    std::uint32_t batch = 1;
    for (std::uint32_t first = 0; first < count; first += kPicturesPerBatch, ++batch) {
      TRIBUTARY_TRY(shapes_of(DataPart::train, fmt::format("data_batch_{}.bin", batch), first,
                              std::min(count - first, kPicturesPerBatch)));
    }
    // A larger data set's remaining batches would be read as a part of this one.
    const std::string behind = path(fmt::format("data_batch_{}.bin", batch));
    std::error_code error;
    if (fs::exists(behind, error)) {
      return Status(StatusCode::already_exists,
                    {.what = fmt::format("'{}'", behind),
                     .expected = fmt::format("no batch behind number {}", batch - 1),
                     .got = "one of another data set",
                     .remedy = "choose an empty folder, or remove the old files"});
    }
    return shapes_of(DataPart::test, "test_batch.bin", 0, drawn(request_.test_count));
  }

  Status make_text() {
    for (const DataPart part : {DataPart::train, DataPart::test}) {
      const bool train = part == DataPart::train;
      const Story story =
          draw_story(request_.seed, part, train ? request_.count : request_.test_count);
      if (train) made_.bits_per_character = story.bits / static_cast<double>(request_.count);
      TRIBUTARY_TRY(begin(fmt::format("{}.txt", name(part))));
      TRIBUTARY_TRY(append(bytes_of(std::string_view(story.text)), story.text.size()));
    }
    return {};
  }

  Result<MadeData> commit() && {
    for (AtomicFile& file : files_) TRIBUTARY_TRY(file.commit());
    return std::move(made_);
  }

 private:
  // Counts of pictures fit in 32 bits after check_counts().
  static std::uint32_t drawn(std::uint64_t count) { return static_cast<std::uint32_t>(count); }

  std::string path(const std::string& name) const { return fs::path(request_.folder) / name; }

  Status begin(const std::string& name) {
    TRIBUTARY_ASSIGN(AtomicFile file, AtomicFile::open(path(name)));
    files_.push_back(std::move(file));
    made_.files.push_back(path(name));
    return {};
  }

  // Appends to the file begun last, and reports `done` more pictures or characters.
  Status append(ByteSpan bytes, std::uint64_t done) {
    made_.bytes += bytes.size();
    TRIBUTARY_TRY(files_.back().append(bytes));
    done_ += done;
    if (!request_.progress || request_.progress(done_, request_.count + request_.test_count)) {
      return {};
    }
    return Status(StatusCode::cancelled, {.what = "drawing data", .got = "a request to stop"});
  }

  // Writes a pair of image and label files. Pictures are written as they are drawn; labels are few
  // bytes and are written at the end.
  Status digits_of(DataPart part, const std::string& prefix, std::uint32_t count) {
    const std::uint32_t image_dims[] = {count, kDigitSide, kDigitSide};
    TRIBUTARY_TRY(begin(prefix + "-images-idx3-ubyte"));
    TRIBUTARY_TRY(append(idx_header(image_dims), 0));
    Bytes labels = idx_header({image_dims, 1});
    for (std::uint32_t first = 0; first < count; first += kPicturesAtOnce) {
      const std::uint32_t end = std::min(count, first + kPicturesAtOnce);
      Bytes pixels;
      for (std::uint32_t i = first; i < end; ++i) {
        const DrawnDigit digit = draw_digit(request_.seed, part, i);
        pixels.insert(pixels.end(), digit.pixels.begin(), digit.pixels.end());
        labels.push_back(digit.label);
      }
      TRIBUTARY_TRY(append(pixels, end - first));
    }
    TRIBUTARY_TRY(begin(prefix + "-labels-idx1-ubyte"));
    return append(labels, 0);
  }

  // Writes one batch: pictures [first, first + count) with their labels.
  Status shapes_of(DataPart part, const std::string& name, std::uint32_t first,
                   std::uint32_t count) {
    TRIBUTARY_TRY(begin(name));
    const std::uint32_t end = first + count;
    for (; first < end; first += std::min(end - first, kPicturesAtOnce)) {
      const std::uint32_t piece = std::min(end - first, kPicturesAtOnce);
      Bytes records;
      for (std::uint32_t i = first; i < first + piece; ++i) {
        const DrawnShape shape = draw_shape(request_.seed, part, i);
        records.push_back(shape.label);
        records.insert(records.end(), shape.pixels.begin(), shape.pixels.end());
      }
      TRIBUTARY_TRY(append(records, piece));
    }
    return {};
  }

  const MakeRequest& request_;
  std::vector<AtomicFile> files_;
  MadeData made_;
  std::uint64_t done_ = 0;
};

Status check_counts(const MakeRequest& request) {
  const std::uint64_t max = request.kind == DrawnKind::text ? kDrawnTextMax : kDrawnMax;
  for (const std::uint64_t count : {request.count, request.test_count}) {
    if (count >= 1 && count <= max) continue;
    return Status(StatusCode::invalid_argument,
                  {.what = request.kind == DrawnKind::text ? "characters" : "pictures",
                   .expected = fmt::format("1 to {}", max),
                   .got = fmt::format("{}", count)});
  }
  return {};
}

}  // namespace

Result<MadeData> make_data(const MakeRequest& request) {
  TRIBUTARY_TRY(check_counts(request));
  std::error_code error;
  fs::create_directories(request.folder, error);
  if (error) {
    return Status(StatusCode::io_error,
                  {.what = fmt::format("making the folder '{}'", request.folder),
                   .got = error.message(),
                   .remedy = "choose a place where you may write"});
  }
  Maker maker(request);
  switch (request.kind) {
    case DrawnKind::digits:
      TRIBUTARY_TRY(maker.make_digits());
      break;
    case DrawnKind::shapes:
      TRIBUTARY_TRY(maker.make_shapes());
      break;
    case DrawnKind::text:
      TRIBUTARY_TRY(maker.make_text());
      break;
  }
  return std::move(maker).commit();
}

}  // namespace tributary
