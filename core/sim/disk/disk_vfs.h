// Lets SQLite use the virtual disks. Each simulation registers a VFS of its own, so that the
// production journals run on virtual disks unchanged and several simulations run in one process.
//
// A path is "/MACHINE/FILE", where MACHINE is the name of a mounted disk.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "core/sim/disk/virtual_disk.h"

namespace tributary {

// Not thread-safe; different objects may be used on different threads. It must outlive every
// database that was opened through it.
class DiskVfs {
 public:
  DiskVfs();
  ~DiskVfs();
  DiskVfs(const DiskVfs&) = delete;
  DiskVfs& operator=(const DiskVfs&) = delete;

  // The VFS's name for sqlite3_open_v2.
  const std::string& name() const;
  // `disk` must outlive this object.
  void mount(std::string_view machine, VirtualDisk& disk);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tributary
