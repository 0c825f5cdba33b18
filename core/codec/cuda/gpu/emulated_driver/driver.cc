// libcuda.so.1 for tests: the part of the driver's interface that core/codec/cuda/gpu/driver.h
// uses, by the emulated device. Load it from a folder in LD_LIBRARY_PATH.
//
// It takes the same device code as a driver, checks that the kernel is in it, and runs the body
// that a host compiler has made. TRIBUTARY_EMULATED_DRIVER is a list of NAME=VALUE, joined by
// commas:
//   version=11040     the driver's version (13090)
//   devices=0         the number of GPUs (1)
//   capability=75     their compute capability (80)
//   fail=cuStreamCreate:2  the function's name and the error that it returns
#include <elf.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

#include "core/codec/cuda/device.h"
#include "core/codec/cuda/emulated/grid.h"
#include "core/codec/cuda/gpu/emulated_driver/functions.h"

namespace tributary::emulated_driver {
namespace {

enum Error : int {
  kSuccess = 0,
  kInvalidValue = 1,
  kOutOfMemory = 2,
  kInvalidImage = 200,
  kInvalidContext = 201,
  kNotFound = 500,
  kLaunchFailed = 719,
  kNotSupported = 801,
};

std::string option(std::string_view name) {
  const char* const text = std::getenv("TRIBUTARY_EMULATED_DRIVER");
  std::string_view rest = text == nullptr ? "" : text;
  while (!rest.empty()) {
    const std::string_view one = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(one.size() + 1, rest.size()));
    const std::size_t equals = one.find('=');
    if (one.substr(0, equals) == name) return std::string(one.substr(equals + 1));
  }
  return "";
}
int number(std::string_view name, int otherwise) {
  const std::string text = option(name);
  return text.empty() ? otherwise : std::atoi(text.c_str());
}

// The error that `fail` asks for in this function.
int requested_error(std::string_view function) {
  const std::string fail = option("fail");
  const std::size_t colon = fail.find(':');
  if (fail.substr(0, colon) != function) return kSuccess;
  return std::atoi(fail.c_str() + colon + 1);
}

// A context is current for each thread, as with a driver.
thread_local void* current = nullptr;
int context_error(std::string_view function) {
  return current == nullptr ? kInvalidContext : requested_error(function);
}

void* allocate(std::size_t bytes) {
  const Result<void*> memory = emulated::allocate_bytes(bytes);
  return memory.ok() ? *memory : nullptr;
}

// The end of a cubin: of its section or program headers or of a section's content.
std::size_t size_of_elf(const char* image) {
  Elf64_Ehdr header;
  std::memcpy(&header, image, sizeof(header));
  std::size_t end = header.e_shoff + std::size_t{header.e_shnum} * header.e_shentsize;
  end = std::max(end, header.e_phoff + std::size_t{header.e_phnum} * header.e_phentsize);
  return end;
}
bool is_elf(const char* image) { return std::memcmp(image, ELFMAG, SELFMAG) == 0; }
bool is_ptx(const char* image) { return std::memcmp(image, "//", 2) == 0; }
// A container of nvcc, which begins with this number. Its content is not read.
bool is_fatbin(const char* image) { return std::memcmp(image, "\x50\xed\x55\xba", 4) == 0; }

bool holds(const char* image, const char* kernel) {
  if (is_fatbin(image)) return true;
  const std::size_t size = is_elf(image) ? size_of_elf(image) : std::strlen(image);
  return memmem(image, size, kernel, std::strlen(kernel)) != nullptr;
}

struct Started {
  const Function* function;
  void** arguments;
};

}  // namespace
}  // namespace tributary::emulated_driver

namespace driver = tributary::emulated_driver;

// NOLINTBEGIN(readability-identifier-naming)
extern "C" {
#pragma GCC visibility push(default)

int cuInit(unsigned) { return driver::requested_error("cuInit"); }
int cuDriverGetVersion(int* version) {
  *version = driver::number("version", 13090);
  return driver::kSuccess;
}
int cuGetErrorString(int error, const char** text) {
  *text = error == driver::kOutOfMemory    ? "out of memory"
          : error == driver::kLaunchFailed ? "unspecified launch failure"
                                           : "an error of the emulated driver";
  return driver::kSuccess;
}
int cuDeviceGetCount(int* count) {
  *count = driver::number("devices", 1);
  return driver::requested_error("cuDeviceGetCount");
}
int cuDeviceGet(int* device, int ordinal) {
  *device = ordinal;
  return driver::requested_error("cuDeviceGet");
}
int cuDeviceGetName(char* name, int bytes, int) {
  std::strncpy(name, "emulated driver", static_cast<std::size_t>(bytes));
  return driver::kSuccess;
}
int cuDeviceTotalMem_v2(std::size_t* bytes, int) {
  *bytes = std::size_t{1} << 30;
  return driver::kSuccess;
}
int cuDeviceGetAttribute(int* value, int attribute, int) {
  const int capability = driver::number("capability", 80);
  *value = attribute == 75 ? capability / 10 : attribute == 76 ? capability % 10 : 1;
  return driver::requested_error("cuDeviceGetAttribute");
}
int cuDevicePrimaryCtxRetain(void** context, int) {
  static int only = 0;
  *context = &only;
  return driver::requested_error("cuDevicePrimaryCtxRetain");
}
int cuCtxSetCurrent(void* context) {
  driver::current = context;
  return driver::requested_error("cuCtxSetCurrent");
}
int cuMemAlloc_v2(std::uint64_t* memory, std::size_t bytes) {
  if (const int error = driver::context_error("cuMemAlloc_v2")) return error;
  if (bytes == 0) return driver::kInvalidValue;
  void* const taken = driver::allocate(bytes);
  std::memcpy(memory, &taken, sizeof(taken));
  return taken == nullptr ? driver::kOutOfMemory : driver::kSuccess;
}
int cuMemFree_v2(std::uint64_t memory) {
  if (memory == 0) return driver::kInvalidValue;
  tributary::emulated::free_bytes(std::bit_cast<void*>(memory));
  return driver::kSuccess;
}
int cuMemHostAlloc(void** memory, std::size_t bytes, unsigned) {
  if (const int error = driver::context_error("cuMemHostAlloc")) return error;
  *memory = driver::allocate(bytes);
  return *memory == nullptr ? driver::kOutOfMemory : driver::kSuccess;
}
int cuMemFreeHost(void* memory) {
  tributary::emulated::free_bytes(memory);
  return driver::kSuccess;
}
int cuMemcpyHtoDAsync_v2(std::uint64_t to, const void* from, std::size_t bytes, void*) {
  if (const int error = driver::context_error("cuMemcpyHtoDAsync_v2")) return error;
  std::memcpy(std::bit_cast<void*>(to), from, bytes);
  return driver::kSuccess;
}
int cuMemcpyDtoHAsync_v2(void* to, std::uint64_t from, std::size_t bytes, void*) {
  if (const int error = driver::context_error("cuMemcpyDtoHAsync_v2")) return error;
  std::memcpy(to, std::bit_cast<const void*>(from), bytes);
  return driver::kSuccess;
}
int cuMemcpyDtoDAsync_v2(std::uint64_t to, std::uint64_t from, std::size_t bytes, void*) {
  if (const int error = driver::context_error("cuMemcpyDtoDAsync_v2")) return error;
  std::memmove(std::bit_cast<void*>(to), std::bit_cast<const void*>(from), bytes);
  return driver::kSuccess;
}
int cuStreamCreate(void** stream, unsigned) {
  if (const int error = driver::context_error("cuStreamCreate")) return error;
  *stream = new int;
  return driver::kSuccess;
}
int cuStreamDestroy_v2(void* stream) {
  delete static_cast<int*>(stream);
  return driver::kSuccess;
}
int cuStreamSynchronize(void*) { return driver::context_error("cuStreamSynchronize"); }
int cuEventCreate(void** event, unsigned) {
  if (const int error = driver::context_error("cuEventCreate")) return error;
  *event = new int;
  return driver::kSuccess;
}
int cuEventDestroy_v2(void* event) {
  delete static_cast<int*>(event);
  return driver::kSuccess;
}
int cuEventRecord(void*, void*) { return driver::context_error("cuEventRecord"); }
int cuEventSynchronize(void*) { return driver::context_error("cuEventSynchronize"); }
int cuModuleLoadData(const void** module, const void* image) {
  if (const int error = driver::context_error("cuModuleLoadData")) return error;
  const auto* const bytes = static_cast<const char*>(image);
  if (!driver::is_elf(bytes) && !driver::is_ptx(bytes) && !driver::is_fatbin(bytes)) {
    return driver::kInvalidImage;
  }
  *module = image;
  return driver::kSuccess;
}
int cuModuleGetFunction(const void** function, const void* module, const char* name) {
  if (const int error = driver::context_error("cuModuleGetFunction")) return error;
  if (!driver::holds(static_cast<const char*>(module), name)) return driver::kNotFound;
  *function = driver::find_function(name);
  return *function == nullptr ? driver::kNotFound : driver::kSuccess;
}
int cuLaunchKernel(const void* function, unsigned grid, unsigned, unsigned, unsigned threads,
                   unsigned, unsigned, unsigned, void*, void** arguments, void**) {
  if (const int error = driver::context_error("cuLaunchKernel")) return error;
  const driver::Started started{static_cast<const driver::Function*>(function), arguments};
  const tributary::Status ran = tributary::emulated::run_grid(
      {.kernel = "a kernel", .grid = grid, .threads = threads},
      [](const void* what) {
        const auto* const it = static_cast<const driver::Started*>(what);
        it->function->call(it->function->kernel, it->arguments);
      },
      &started);
  return ran.ok() ? driver::kSuccess : driver::kLaunchFailed;
}

// Only the benchmark uses these.
int cuEventElapsedTime(float*, void*, void*) { return driver::kNotSupported; }
int cuStreamBeginCapture_v2(void*, int) { return driver::kNotSupported; }
int cuStreamEndCapture(void*, void**) { return driver::kNotSupported; }
int cuGraphInstantiateWithFlags(void**, void*, unsigned long long) { return driver::kNotSupported; }
int cuGraphLaunch(void*, void*) { return driver::kNotSupported; }
int cuGraphDestroy(void*) { return driver::kNotSupported; }
int cuGraphExecDestroy(void*) { return driver::kNotSupported; }

#pragma GCC visibility pop
}
// NOLINTEND(readability-identifier-naming)
