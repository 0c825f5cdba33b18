#include "core/codec/cuda/gpu/kernels.h"

#include <cstdint>
#include <cstring>
#include <deque>
#include <mutex>
#include <string>
#include <unordered_map>

#include "core/codec/cuda/gpu/errors.h"

namespace tributary::cuda {
namespace {

// What tools/device_code.py writes: machine code for some architectures, and PTX. nvcc's own
// format begins otherwise, and the driver chooses in it.
struct CodeHeader {
  char magic[8];
  std::uint64_t count;
};
struct CodeEntry {
  std::uint32_t ptx;         // 1: PTX, 0: machine code
  std::uint32_t capability;  // 87 is 8.7
  std::uint64_t offset;      // from the header
};
constexpr char kMagic[] = "TRIBGPU1";

// Machine code runs on its own major version, from its minor version on; PTX on everything newer.
// The newest code wins, and machine code before PTX. Null: none.
const void* code_for(int capability, const void* data) {
  CodeHeader header{};
  std::memcpy(&header, data, sizeof(header));
  if (std::memcmp(header.magic, kMagic, sizeof(header.magic)) != 0) return data;
  const auto* const bytes = static_cast<const unsigned char*>(data);
  const void* best = nullptr;
  std::uint32_t best_rank = 0;
  for (std::uint64_t i = 0; i < header.count; ++i) {
    CodeEntry entry{};
    std::memcpy(&entry, bytes + sizeof(header) + i * sizeof(entry), sizeof(entry));
    const int made_for = static_cast<int>(entry.capability);
    if (made_for > capability || (entry.ptx == 0 && made_for / 10 != capability / 10)) continue;
    const std::uint32_t rank = entry.capability + (entry.ptx == 0 ? 1000u : 0u);
    if (rank > best_rank) {
      best_rank = rank;
      best = bytes + entry.offset;
    }
  }
  return best;
}

// The device code of one file.
struct Image {
  const void* data;
  CUmod_st* module = nullptr;  // null: not loaded
};
struct Kernel {
  Image* image;
  const char* name;  // in the device code
  CUfunc_st* function = nullptr;
};

class Registry {
 public:
  Image* add_image(const void* data) { return &images_.emplace_back(Image{data}); }
  void add_kernel(Image* image, const void* kernel, const char* name) {
    kernels_.insert_or_assign(kernel, Kernel{image, name});
  }
  Status load_all(const Gpu& gpu) {
    const std::lock_guard lock(mutex_);
    for (Image& image : images_) TRIBUTARY_TRY(load(gpu, image));
    return {};
  }
  Result<CUfunc_st*> function(const Gpu& gpu, const void* kernel) {
    const std::lock_guard lock(mutex_);
    const auto found = kernels_.find(kernel);
    if (found == kernels_.end()) {
      return Status(StatusCode::mismatch, {.what = "a kernel",
                                           .expected = "device code for it in this program",
                                           .got = "none",
                                           .remedy = "encode on the host; the bytes are the same"});
    }
    Kernel& entry = found->second;
    if (entry.function == nullptr) {
      TRIBUTARY_TRY(load(gpu, *entry.image));
      TRIBUTARY_TRY(status_of(gpu.driver.function(&entry.function, entry.image->module, entry.name),
                              std::string("the kernel ") + entry.name));
    }
    return entry.function;
  }

 private:
  static Status load(const Gpu& gpu, Image& image) {
    if (image.module != nullptr) return {};
    const void* const code = code_for(gpu.capability, image.data);
    if (code == nullptr) {
      return Status(
          StatusCode::unsupported,
          {.what = "GPU",
           .expected = "a compute capability that this build has device code for",
           .got = std::to_string(gpu.capability / 10) + "." + std::to_string(gpu.capability % 10),
           .remedy = "encode on the host; the bytes are the same"});
    }
    return status_of(gpu.driver.load_module(&image.module, code), "loading device code");
  }

  std::mutex mutex_;
  std::deque<Image> images_;  // whose addresses stay
  std::unordered_map<const void*, Kernel> kernels_;
};

// The program's initialisers use it, in any order.
Registry& registry() {
  static Registry* const it = new Registry;  // used until the end of the process
  return *it;
}

}  // namespace

Status load_kernels(const Gpu& gpu) { return registry().load_all(gpu); }

Result<CUfunc_st*> kernel_function(const Gpu& gpu, const void* kernel) {
  return registry().function(gpu, kernel);
}

}  // namespace tributary::cuda

// What nvcc and clang call in the code that they generate. These take the place of CUDA's runtime.
// Hidden: a library with its own copy of the runtime, such as a trainer's, keeps it.
// NOLINTBEGIN(bugprone-reserved-identifier,readability-identifier-naming)
extern "C" {
#pragma GCC visibility push(hidden)

struct FatBinaryWrapper {
  int magic;
  int version;
  const void* data;
  const void* file;
};

void** __cudaRegisterFatBinary(void* wrapper) {
  const void* const data = static_cast<const FatBinaryWrapper*>(wrapper)->data;
  return reinterpret_cast<void**>(tributary::cuda::registry().add_image(data));
}
void __cudaRegisterFatBinaryEnd(void**) {}
// The driver unloads modules at the end of the process.
void __cudaUnregisterFatBinary(void**) {}
void __cudaRegisterFunction(void** image, const char* kernel, char*, const char* name, int, void*,
                            void*, void*, void*, int*) {
  tributary::cuda::registry().add_kernel(reinterpret_cast<tributary::cuda::Image*>(image), kernel,
                                         name);
}

// Only a start by <<<>>> uses these, and kernels are started by launch() alone.
constexpr int kNotSupported = 801;
unsigned __cudaPushCallConfiguration() { return kNotSupported; }
int __cudaPopCallConfiguration() { return kNotSupported; }
int __cudaGetKernel() { return kNotSupported; }
int __cudaLaunchKernel() { return kNotSupported; }
int cudaLaunchKernel() { return kNotSupported; }

#pragma GCC visibility pop
}
// NOLINTEND(bugprone-reserved-identifier,readability-identifier-naming)
