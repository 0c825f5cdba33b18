#include "core/codec/cuda/scratch.h"

#include <atomic>
#include <vector>

#include "core/codec/cuda/arena.h"
#include "core/codec/cuda/emulated/emulated_testing.h"

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
  Status upload(const void* host, std::size_t bytes, void* device) override {
    return copy_to_device(queue_, host, bytes, device);
  }
  Status download(const void* device, std::size_t bytes, void* host) override {
    return copy_to_host(queue_, device, bytes, host);
  }
  Status wait() override { return queue_.wait(); }
  void reset() override {
    memory_.clear();
    arena_.reset();
  }

 private:
  std::vector<DeviceBlock> memory_;
  Arena arena_;
};

}  // namespace

void keep_memory(bool kept) { memory_kept = kept; }

Result<std::unique_ptr<Scratch>> Scratch::make() {
  TRIBUTARY_ASSIGN(Queue queue, Queue::make());
  return std::unique_ptr<Scratch>(std::make_unique<EmulatedScratch>(std::move(queue)));
}

}  // namespace tributary::emulated
