#include "core/codec/cuda/scratch.h"

#include <cuda_runtime.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "core/codec/cuda/gpu/errors.h"

namespace tributary::cuda {
namespace {

constexpr std::size_t kAlignment = 256;
// An arena grows in steps of this size, so that buckets of nearly equal sizes do not make it grow
// one after the other.
constexpr std::size_t kArenaStep = 1u << 20;

constexpr std::size_t rounded_up(std::size_t bytes, std::size_t step) {
  return (bytes + step - 1) / step * step;
}

struct FreeDevice {
  void operator()(void* memory) const { free_bytes(memory); }
};
// Device memory that calls take from front to back. A call that needs more than there is gets an
// array of its own; the arena has the size of the largest call from the next one on.
class Arena {
 public:
  Result<void*> take(std::size_t bytes) {
    if (bytes == 0) return nullptr;
    const std::size_t needed = rounded_up(bytes, kAlignment);
    const std::size_t begin = used_;
    used_ += needed;
    if (used_ <= size_) return static_cast<char*>(memory_.get()) + begin;
    TRIBUTARY_ASSIGN(void* const own, allocate_bytes(needed));
    extra_.emplace_back(own);
    return own;
  }

  // No work that uses the memory may be unfinished. If the device has too little memory for the
  // larger arena, calls go on with arrays of their own.
  void reset() {
    if (used_ > size_) {
      extra_.clear();
      memory_.reset();
      size_ = 0;
      const std::size_t needed = rounded_up(used_, kArenaStep);
      if (Result<void*> memory = allocate_bytes(needed); memory.ok()) {
        memory_.reset(*memory);
        size_ = needed;
      }
    }
    used_ = 0;
  }

 private:
  std::unique_ptr<void, FreeDevice> memory_;
  std::size_t size_ = 0;
  std::size_t used_ = 0;  // of this call, with what exceeds the arena
  std::vector<std::unique_ptr<void, FreeDevice>> extra_;
};

// A piece of pinned host memory between pageable memory and the device. The GPU copies pinned
// memory at the rate of the bus, and does so while the CPU fills or empties another piece.
struct Piece {
  void* pinned = nullptr;
  cudaEvent_t copied = nullptr;  // the end of the piece's last copy
  void* host = nullptr;          // where a download goes next; null: an upload, or none
  std::size_t bytes = 0;
};
constexpr std::size_t kPieces = 4;
constexpr std::size_t kPieceBytes = 2u << 20;

class GpuScratch final : public Scratch {
 public:
  explicit GpuScratch(Queue queue) : Scratch(std::move(queue)) {}
  ~GpuScratch() override {
    for (const Piece& piece : pieces_) {
      if (piece.copied != nullptr) static_cast<void>(cudaEventDestroy(piece.copied));
    }
    if (pinned_ != nullptr) static_cast<void>(cudaFreeHost(pinned_));
  }
  GpuScratch(const GpuScratch&) = delete;
  GpuScratch& operator=(const GpuScratch&) = delete;

  Status allocate_pieces() {
    TRIBUTARY_TRY(status_of(cudaHostAlloc(&pinned_, kPieces * kPieceBytes, cudaHostAllocDefault),
                            "pinned host memory"));
    char* memory = static_cast<char*>(pinned_);
    for (Piece& piece : pieces_) {
      piece.pinned = memory;
      memory += kPieceBytes;
      TRIBUTARY_TRY(
          status_of(cudaEventCreateWithFlags(&piece.copied, cudaEventDisableTiming), "an event"));
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
      std::memcpy(piece->pinned, from + done, count);
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
    TRIBUTARY_TRY(status_of(cudaEventSynchronize(piece.copied), "a copy between host and device"));
    empty(piece);
    return &piece;
  }
  Status record_end_of(const Piece& piece) {
    return status_of(cudaEventRecord(piece.copied, queue_.stream()), "an event");
  }
  static void empty(Piece& piece) {
    if (piece.host != nullptr) std::memcpy(piece.host, piece.pinned, piece.bytes);
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

Result<std::unique_ptr<Scratch>> Scratch::make() {
  TRIBUTARY_ASSIGN(Queue queue, Queue::make());
  auto scratch = std::make_unique<GpuScratch>(std::move(queue));
  TRIBUTARY_TRY(scratch->allocate_pieces());
  return std::unique_ptr<Scratch>(std::move(scratch));
}

}  // namespace tributary::cuda
