#include "core/codec/cuda/scratch.h"

#include <vector>

namespace tributary::emulated {
namespace {

class EmulatedScratch final : public Scratch {
 public:
  explicit EmulatedScratch(Queue queue) : Scratch(std::move(queue)) {}

  Result<void*> take(std::size_t bytes) override {
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
  void reset() override { memory_.clear(); }

 private:
  struct Free {
    void operator()(void* memory) const { free_bytes(memory); }
  };

  std::vector<std::unique_ptr<void, Free>> memory_;
};

}  // namespace

Result<std::unique_ptr<Scratch>> Scratch::make() {
  TRIBUTARY_ASSIGN(Queue queue, Queue::make());
  return std::unique_ptr<Scratch>(std::make_unique<EmulatedScratch>(std::move(queue)));
}

}  // namespace tributary::emulated
