// A program that writes and reads frames. It is compiled once for every set of schemas.
//   peer write FOLDER    writes one completely filled frame of every kind: FOLDER/Hello.frame ...
//   peer read FOLDER     prints all fields of the frames, each as a line "kind path=value"
// It fails on an invalid frame.
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <set>

#include "schemas/fill_testing.h"

namespace {

namespace wire = tributary::wire;
using std::filesystem::path;

bool write_frames(const path& folder) {
  for (const wire::FilledFrame& frame : wire::filled_frames()) {
    std::ofstream file(folder / (frame.kind + ".frame"), std::ios::binary);
    file.write(reinterpret_cast<const char*>(frame.bytes.data()),
               static_cast<std::streamsize>(frame.bytes.size()));
    file.close();
    if (!file) return false;
  }
  return true;
}

bool read_frame(const path& name) {
  std::ifstream file(name, std::ios::binary);
  const std::string kind = name.stem().string();
  std::vector<std::uint8_t> bytes;
  bytes.assign(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  flatbuffers::Verifier verifier(bytes.data(), bytes.size());
  if (!wire::VerifyFrameBuffer(verifier)) {
    std::cerr << kind << ": not a sound frame\n";
    return false;
  }
  const wire::Frame& frame = *wire::GetFrame(bytes.data());
  if (frame.message_type() > wire::Message::MAX) {
    std::cout << kind << " unsupported=" << static_cast<int>(frame.message_type()) << "\n";
    return true;
  }
  for (const std::string& line : wire::Dump::of(frame)) std::cout << kind << " " << line << "\n";
  return true;
}

bool read_frames(const path& folder) {
  std::set<path> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) names.insert(entry.path());
  bool sound = !names.empty();
  for (const path& name : names) sound = read_frame(name) && sound;
  return sound;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string verb = argc == 3 ? argv[1] : "";
  if (verb == "write") return write_frames(argv[2]) ? 0 : 1;
  if (verb == "read") return read_frames(argv[2]) ? 0 : 1;
  std::cerr << "usage: peer write|read FOLDER\n";
  return 2;
}
