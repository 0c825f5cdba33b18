#include "core/codec/cuda/gpu/driver.h"

#include <dlfcn.h>

#include <atomic>
#include <string>

#include "core/codec/cuda/gpu/errors.h"

namespace tributary::cuda {
namespace {

constexpr const char* kLibrary = "libcuda.so.1";
// The oldest driver that takes this build's device code. A driver takes the code of all toolkits of
// its own major version.
constexpr int kVersionMin = TRIBUTARY_CUDA_DRIVER;

// CUDA 12.6 is 12060.
std::string version_text(int number) {
  return std::to_string(number / 1000) + "." + std::to_string(number % 1000 / 10);
}

Status not_available(std::string got) {
  return Status(StatusCode::unavailable,
                {.what = "GPU",
                 .expected = "a driver for CUDA " + version_text(kVersionMin) +
                             " or newer, and a GPU of compute capability 8.0 or newer",
                 .got = std::move(got),
                 .remedy = "encode on the host; the bytes are the same"});
}

// Finds functions in the library, and keeps the name of the first one that is missing.
class Finder {
 public:
  explicit Finder(void* library) : library_(library) {}

  template <typename Function>
  void find(const char* name, Function*& function) {
    function = reinterpret_cast<Function*>(dlsym(library_, name));
    if (function == nullptr && missing_ == nullptr) missing_ = name;
  }
  const char* missing() const { return missing_; }

 private:
  void* const library_;
  const char* missing_ = nullptr;
};

// The names carry the version of their signature where the driver has several.
const char* find_functions(void* library, Driver& driver) {
  Finder finder(library);
  finder.find("cuInit", driver.init);
  finder.find("cuDriverGetVersion", driver.version);
  finder.find("cuGetErrorString", driver.error_text);
  finder.find("cuDeviceGetCount", driver.device_count);
  finder.find("cuDeviceGet", driver.device);
  finder.find("cuDeviceGetName", driver.device_name);
  finder.find("cuDeviceTotalMem_v2", driver.memory_bytes);
  finder.find("cuDeviceGetAttribute", driver.attribute);
  finder.find("cuDevicePrimaryCtxRetain", driver.retain_context);
  finder.find("cuCtxSetCurrent", driver.use_context);
  finder.find("cuMemAlloc_v2", driver.allocate);
  finder.find("cuMemFree_v2", driver.free);
  finder.find("cuMemHostAlloc", driver.allocate_pinned);
  finder.find("cuMemFreeHost", driver.free_pinned);
  finder.find("cuMemcpyHtoDAsync_v2", driver.copy_to_device);
  finder.find("cuMemcpyDtoHAsync_v2", driver.copy_to_host);
  finder.find("cuMemcpyDtoDAsync_v2", driver.copy_on_device);
  finder.find("cuStreamCreate", driver.make_stream);
  finder.find("cuStreamDestroy_v2", driver.destroy_stream);
  finder.find("cuStreamSynchronize", driver.wait_for_stream);
  finder.find("cuEventCreate", driver.make_event);
  finder.find("cuEventDestroy_v2", driver.destroy_event);
  finder.find("cuEventRecord", driver.record_event);
  finder.find("cuEventSynchronize", driver.wait_for_event);
  finder.find("cuEventElapsedTime", driver.elapsed_ms);
  finder.find("cuModuleLoadData", driver.load_module);
  finder.find("cuModuleGetFunction", driver.function);
  finder.find("cuLaunchKernel", driver.launch);
  finder.find("cuStreamBeginCapture_v2", driver.begin_capture);
  finder.find("cuStreamEndCapture", driver.end_capture);
  finder.find("cuGraphInstantiateWithFlags", driver.instantiate);
  finder.find("cuGraphLaunch", driver.launch_graph);
  finder.find("cuGraphDestroy", driver.destroy_graph);
  finder.find("cuGraphExecDestroy", driver.destroy_executable);
  return finder.missing();
}

Status find_gpu(Gpu& gpu) {
  // Never closed: the driver's threads live as long as the process.
  void* const library = dlopen(kLibrary, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return not_available("no driver: " + std::string(dlerror()));
  Driver& driver = gpu.driver;
  // A driver that is too old may lack functions, so its version comes first.
  Finder finder(library);
  finder.find("cuDriverGetVersion", driver.version);
  if (finder.missing() != nullptr) {
    return not_available(std::string(kLibrary) + " without " + finder.missing());
  }
  if (driver.version(&gpu.driver_version) != kSuccess || gpu.driver_version < kVersionMin) {
    return not_available("a driver for CUDA " + version_text(gpu.driver_version));
  }
  if (const char* missing = find_functions(library, driver)) {
    return not_available(std::string(kLibrary) + " without " + missing);
  }
  const auto fails = [&](DriverResult result) {
    return result == kSuccess ? Status() : not_available(error_text(driver, result));
  };
  TRIBUTARY_TRY(fails(driver.init(0)));
  int count = 0;
  TRIBUTARY_TRY(fails(driver.device_count(&count)));
  if (count == 0) return not_available("no GPU");
  int major = 0;
  int minor = 0;
  TRIBUTARY_TRY(fails(driver.device(&gpu.device, 0)));
  TRIBUTARY_TRY(fails(driver.attribute(&major, Attribute::capability_major, gpu.device)));
  TRIBUTARY_TRY(fails(driver.attribute(&minor, Attribute::capability_minor, gpu.device)));
  gpu.capability = major * 10 + minor;
  if (major < 8) {
    return not_available("compute capability " + std::to_string(major) + "." +
                         std::to_string(minor));
  }
  return fails(driver.retain_context(&gpu.context, gpu.device));
}

std::atomic<const Gpu*> gpu_found = nullptr;

}  // namespace

std::string error_text(const Driver& driver, DriverResult error) {
  const char* text = nullptr;
  static_cast<void>(driver.error_text(error, &text));
  return text == nullptr ? "error " + std::to_string(error) : text;
}

Result<const Gpu*> use_gpu() {
  static Gpu gpu;
  static const Status status = [] {
    Status found_gpu = find_gpu(gpu);
    if (found_gpu.ok()) gpu_found = &gpu;
    return found_gpu;
  }();
  if (!status.ok()) return status;
  TRIBUTARY_TRY(status_of(gpu.driver.use_context(gpu.context), "the GPU's context"));
  return &gpu;
}

const Gpu* gpu_in_use() { return gpu_found; }

}  // namespace tributary::cuda
