#include "core/codec/cuda/scratch.h"

#include <atomic>
#include <cstring>
#include <deque>
#include <vector>

#include "core/base/bytes/bytes.h"
#include "core/codec/cuda/arena.h"
#include "core/codec/cuda/emulated/emulated_testing.h"
#include "core/codec/cuda/emulated/stream.h"

namespace tributary::emulated {
namespace {

std::atomic<bool> memory_kept = false;

class EmulatedScratch final : public Scratch {
 public:
  explicit EmulatedScratch(Queue queue) : Scratch(std::move(queue)) {}

  Result<void*> take(std::size_t bytes) override {
    if (memory_kept) return arena_.take(bytes);
    TRIBUTARY_ASSIGN(void* const memory, allocate_bytes(bytes));
    memory_.emplace_back(memory);
    return memory;
  }
  // As on a GPU, copies go through host memory of the workspace.
  Status upload(const void* host, std::size_t bytes, void* device) override {
    if (bytes == 0) return {};
    Bytes& staged = staged_.emplace_back(bytes);
    std::memcpy(staged.data(), host, bytes);
    return copy_to_device(queue_, staged.data(), bytes, device);
  }
  Status download(const void* device, std::size_t bytes, void* host) override {
    if (bytes == 0) return {};
    Bytes& staged = staged_.emplace_back(bytes);
    downloads_.push_back({.staged = staged.data(), .bytes = bytes, .host = host});
    return copy_to_host(queue_, device, bytes, staged.data());
  }
  Status wait() override {
    Status status = queue_.wait();
    if (status.ok()) {
      for (const Download& each : downloads_) std::memcpy(each.host, each.staged, each.bytes);
    }
    forget_copies();
    return status;
  }
  void reset() override {
    ignore_error(queue_.stream()->finish());
    forget_copies();
    memory_.clear();
    arena_.reset();
  }

 private:
  struct Download {
    const std::uint8_t* staged = nullptr;
    std::size_t bytes = 0;
    void* host = nullptr;  // written by wait()
  };

  void forget_copies() {
    downloads_.clear();
    staged_.clear();
  }

  std::deque<Bytes> staged_;  // their addresses stay
  std::vector<Download> downloads_;
  std::vector<DeviceBlock> memory_;
  Arena arena_;
};

}  // namespace

void keep_memory(bool kept) { memory_kept = kept; }
bool keeps_memory() { return memory_kept; }

Result<std::unique_ptr<Scratch>> Scratch::make() {
  TRIBUTARY_ASSIGN(Queue queue, Queue::make());
  return std::unique_ptr<Scratch>(std::make_unique<EmulatedScratch>(std::move(queue)));
}

}  // namespace tributary::emulated
