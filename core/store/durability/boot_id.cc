#include "core/store/durability/boot_id.h"

#include <fstream>

namespace tributary {

std::string system_boot_id() {
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::string id;
  std::getline(file, id);
  return id;
}

}  // namespace tributary
