// SQLite's view of the virtual disks: a VFS of its own for every simulation, so that the production
// journals run on them unchanged, and several simulations run in one process.
//
// A path is "/MACHINE/FILE", where MACHINE was mounted.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "core/sim/disk/virtual_disk.h"

namespace tributary {

// Threads: one at a time. Must outlive every database that was opened through it.
class DiskVfs {
 public:
  DiskVfs();
  ~DiskVfs();
  DiskVfs(const DiskVfs&) = delete;
  DiskVfs& operator=(const DiskVfs&) = delete;

  // What sqlite3_open_v2 calls it.
  const std::string& name() const;
  // The disk must stay as long as this.
  void mount(std::string_view machine, VirtualDisk& disk);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tributary
