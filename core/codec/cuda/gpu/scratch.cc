#include "core/codec/cuda/scratch.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "core/base/thread_pool.h"
#include "core/codec/cuda/arena.h"
#include "core/codec/cuda/gpu/errors.h"

namespace tributary::cuda {
namespace {

// A piece of pinned host memory between pageable memory and the device. The GPU copies pinned
// memory at the rate of the bus, and does so while the CPU fills or empties another piece.
struct Piece {
  void* pinned = nullptr;
  CUevent_st* copied = nullptr;  // the end of the piece's last copy
  void* host = nullptr;          // where a download goes next; null: an upload, or none
  std::size_t bytes = 0;
};
constexpr std::size_t kPieces = 4;
constexpr std::size_t kPieceBytes = 2u << 20;

// One thread of the host copies more slowly than the bus does, so several share a piece.
constexpr std::size_t kCopyThreads = 4;
constexpr std::size_t kSliceBytes = 256u << 10;

void copy_slices(void* to, const void* from, std::size_t bytes) {
  // Used until the end of the process.
  static ThreadPool* const threads = new ThreadPool(std::min(kCopyThreads, hardware_threads()));
  threads->parallel_for((bytes + kSliceBytes - 1) / kSliceBytes, [&](std::size_t i) {
    const std::size_t begin = i * kSliceBytes;
    std::memcpy(static_cast<char*>(to) + begin, static_cast<const char*>(from) + begin,
                std::min(bytes - begin, kSliceBytes));
  });
}

class GpuScratch final : public Scratch {
 public:
  explicit GpuScratch(Queue queue) : Scratch(std::move(queue)) {}
  ~GpuScratch() override {
    const Result<const Gpu*> gpu = use_gpu();
    if (!gpu.ok()) return;
    for (const Piece& piece : pieces_) {
      if (piece.copied != nullptr) static_cast<void>((*gpu)->driver.destroy_event(piece.copied));
    }
    if (pinned_ != nullptr) static_cast<void>((*gpu)->driver.free_pinned(pinned_));
  }
  GpuScratch(const GpuScratch&) = delete;
  GpuScratch& operator=(const GpuScratch&) = delete;

  Status allocate_pieces() {
    TRIBUTARY_ASSIGN(const Gpu* const gpu, use_gpu());
    TRIBUTARY_TRY(status_of(gpu->driver.allocate_pinned(&pinned_, kPieces * kPieceBytes, 0),
                            "pinned host memory"));
    char* memory = static_cast<char*>(pinned_);
    for (Piece& piece : pieces_) {
      piece.pinned = memory;
      memory += kPieceBytes;
      TRIBUTARY_TRY(
          status_of(gpu->driver.make_event(&piece.copied, kEventDisableTiming), "an event"));
    }
    return {};
  }

  Result<void*> take(std::size_t bytes) override {
    busy_ = true;
    return arena_.take(bytes);
  }

  Status upload(const void* host, std::size_t bytes, void* device) override {
    const auto* from = static_cast<const char*>(host);
    auto* to = static_cast<char*>(device);
    for (std::size_t done = 0; done < bytes;) {
      const std::size_t count = std::min(bytes - done, kPieceBytes);
      TRIBUTARY_ASSIGN(Piece* const piece, next_piece());
      copy_slices(piece->pinned, from + done, count);
      TRIBUTARY_TRY(copy_to_device(queue_, piece->pinned, count, to + done));
      TRIBUTARY_TRY(record_end_of(*piece));
      done += count;
    }
    return {};
  }

  Status download(const void* device, std::size_t bytes, void* host) override {
    const auto* from = static_cast<const char*>(device);
    auto* to = static_cast<char*>(host);
    for (std::size_t done = 0; done < bytes;) {
      const std::size_t count = std::min(bytes - done, kPieceBytes);
      TRIBUTARY_ASSIGN(Piece* const piece, next_piece());
      TRIBUTARY_TRY(copy_to_host(queue_, from + done, count, piece->pinned));
      TRIBUTARY_TRY(record_end_of(*piece));
      piece->host = to + done;
      piece->bytes = count;
      done += count;
    }
    return {};
  }

  Status wait() override {
    Status status = queue_.wait();
    busy_ = false;
    for (Piece& piece : pieces_) {
      if (status.ok()) empty(piece);
      piece.host = nullptr;
    }
    return status;
  }

  void reset() override {
    if (busy_) ignore_error(wait_without_downloads());
    arena_.reset();
  }

 private:
  // Returns a piece that no copy uses, after the download in it has been taken out.
  Result<Piece*> next_piece() {
    Piece& piece = pieces_[next_++ % kPieces];
    TRIBUTARY_ASSIGN(const Gpu* const gpu, use_gpu());
    TRIBUTARY_TRY(
        status_of(gpu->driver.wait_for_event(piece.copied), "a copy between host and device"));
    empty(piece);
    return &piece;
  }
  Status record_end_of(const Piece& piece) {
    TRIBUTARY_ASSIGN(const Gpu* const gpu, use_gpu());
    return status_of(gpu->driver.record_event(piece.copied, queue_.stream()), "an event");
  }
  static void empty(Piece& piece) {
    if (piece.host != nullptr) copy_slices(piece.host, piece.pinned, piece.bytes);
    piece.host = nullptr;
  }
  Status wait_without_downloads() {
    for (Piece& piece : pieces_) piece.host = nullptr;
    return wait();
  }

  Arena arena_;
  void* pinned_ = nullptr;
  std::array<Piece, kPieces> pieces_;
  std::size_t next_ = 0;
  bool busy_ = false;  // work may be unfinished
};

}  // namespace

bool keeps_memory() { return true; }

Result<std::unique_ptr<Scratch>> Scratch::make() {
  TRIBUTARY_ASSIGN(Queue queue, Queue::make());
  auto scratch = std::make_unique<GpuScratch>(std::move(queue));
  TRIBUTARY_TRY(scratch->allocate_pieces());
  return std::unique_ptr<Scratch>(std::move(scratch));
}

}  // namespace tributary::cuda
