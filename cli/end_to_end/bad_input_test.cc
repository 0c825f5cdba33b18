// Invalid files and failures of the operating system: each gives a typed error, and no partial
// output remains.
#include <gmock/gmock.h>
#include <sys/stat.h>

#include <csignal>
#include <limits>

#include "cli/end_to_end/program_testing.h"

namespace tributary {
namespace {

using program_testing::Capture;
using program_testing::Outcome;
using program_testing::ProgramTest;
using program_testing::run;
using program_testing::start;
using program_testing::wait_for;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

class BadInput : public ProgramTest {
 protected:
  Outcome encode(const std::string& in, const std::string& codec = "int8") const {
    return run({"codec", "encode", "--codec", codec, "--in", in, "--out", path("out")});
  }
  Outcome decode(const std::string& in) const {
    return run({"codec", "decode", "--in", in, "--out", path("out")});
  }
  static void expect_error(const Outcome& outcome, int code, const std::string& words) {
    EXPECT_EQ(outcome.code, code) << outcome.err;
    EXPECT_EQ(outcome.out, "");
    EXPECT_THAT(outcome.err, HasSubstr(words));
  }
};

TEST_F(BadInput, NotANumberIsNamedByFileAndElement) {
  FloatVector values(5000, 1.0f);
  values[4321] = std::numeric_limits<float>::quiet_NaN();
  const std::string bad = write_floats("bad", values);
  const std::string good = write_floats("good", FloatVector(5000, 1.0f));
  expect_error(encode(bad), 12, bad + ": element 4321: expected a finite number, got nan");
  expect_error(run({"codec", "measure", "--codec", "int8", "--in", good, "--in", bad}), 12,
               bad + ": element 4321");
  EXPECT_THAT(names(), ElementsAre("bad", "good"));
  EXPECT_EQ(encode(bad, "fp32").code, 0) << "a lossless codec carries every bit pattern";
}

TEST_F(BadInput, FilesThatAreNotThere) {
  const std::string none = path("none");
  expect_error(encode(none), 21, none);
  expect_error(decode(none), 21, none);
  expect_error(run({"codec", "measure", "--codec", "int8", "--in", none}), 21, none);
}

TEST_F(BadInput, AFolderIsNoFile) {
  const std::string here = folder();
  EXPECT_THAT(encode(here).err, AllOf(HasSubstr(here), HasSubstr("a folder")));
  expect_error(decode(here), 20, here);
  expect_error(run({"codec", "measure", "--codec", "int8", "--in", here}), 20, here);
  const std::string in = write_floats("in", {1.0f});
  expect_error(run({"codec", "encode", "--codec", "int8", "--in", in, "--out", here}), 20, here);
}

TEST_F(BadInput, SizesThatAreNoFloats) {
  const std::string seven = write("seven", Bytes(7));
  expect_error(encode(seven), 11, seven + ": update: expected float32 values");
  expect_error(run({"codec", "measure", "--codec", "int8", "--in", seven}), 11, "7 bytes");
}

TEST_F(BadInput, MeasureNeedsValuesOfOneLength) {
  const std::string empty = write("empty", {});
  const std::string two = write_floats("two", {1.0f, 2.0f});
  const std::string three = write_floats("three", {1.0f, 2.0f, 3.0f});
  expect_error(run({"codec", "measure", "--codec", "int8", "--in", empty}), 10, empty);
  expect_error(run({"codec", "measure", "--codec", "int8", "--in", two, "--in", three}), 40,
               three + ": expected 2 values, as in " + two + ", got 3");
}

TEST_F(BadInput, AnOutputFolderThatIsMissing) {
  const std::string in = write_floats("in", {1.0f});
  expect_error(
      run({"codec", "encode", "--codec", "int8", "--in", in, "--out", path("no/such/out")}), 21,
      "no/such/out");
}

TEST_F(BadInput, AnEncodedFileThatIsCutOrChanged) {
  const std::string in = write_floats("in", FloatVector(3000, 1.0f));
  ASSERT_EQ(encode(in).code, 0);
  const std::string whole = read("out");
  const auto decode_bytes = [&](const std::string& bytes) {
    return decode(write("encoded", bytes_of(std::string_view(bytes))));
  };
  for (const std::size_t size :
       {std::size_t{0}, std::size_t{47}, std::size_t{60}, whole.size() - 1}) {
    expect_error(decode_bytes(whole.substr(0, size)), 11,
                 path("encoded") + ": encoded file, byte ");
  }
  std::string changed = whole;
  changed[whole.size() / 2] = static_cast<char>(changed[whole.size() / 2] ^ 1);
  expect_error(decode_bytes(changed), 11, "payload checksum");
  changed = whole;
  changed[8] = 9;
  expect_error(decode_bytes(changed), 41, "expected version 1, got 9");
  expect_error(decode_bytes("this is no encoded file, but long enough to be one: 0123456789"), 11,
               "the magic \"TRIBFILE\"");
  EXPECT_TRUE(read("out") == whole) << "no failed decoding may touch the old file";
  EXPECT_THAT(names(), ElementsAre("encoded", "in", "out"));
}

// A limit on the file size has the effect of a full disk without filling one.
TEST_F(BadInput, AFileThatMayNotGrow) {
  const std::string in = write_floats("in", FloatVector(100'000, 1.0f));
  write("out", bytes_of(std::string_view("old")));
  const auto limit_file_size = [] {
    const rlimit limit = {.rlim_cur = 5000, .rlim_max = 5000};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  };
  // The limit also applies to the captured streams, which stay well below it.
  const Outcome outcome = run(
      {"codec", "encode", "--codec", "fp32", "--in", in, "--out", path("out")}, limit_file_size);
  expect_error(outcome, 20, path("out"));
  EXPECT_THAT(outcome.err, HasSubstr("raise it (ulimit -f)"));
  EXPECT_EQ(read("out"), "old");
  EXPECT_THAT(names(), ElementsAre("in", "out"));
}

TEST_F(BadInput, StandardOutputThatIsFull) {
  const int full = ::open("/dev/full", O_WRONLY | O_CLOEXEC);
  ASSERT_GE(full, 0);
  const Capture err;
  EXPECT_EQ(wait_for(start({"codec", "list"}, {.out = full, .err = err.file()})), 20);
  EXPECT_THAT(err.text(), HasSubstr("standard output"));
  ::close(full);
}

TEST_F(BadInput, AClosedOutputPipe) {
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  ::close(ends[0]);
  const Capture err;
  EXPECT_EQ(wait_for(start({"codec", "list", "--json"}, {.out = ends[1], .err = err.file()})),
            128 + SIGPIPE);
  EXPECT_EQ(err.text(), "");
  ::close(ends[1]);
}

TEST_F(BadInput, ClosedStandardStreamsDoNotEndUpInTheFile) {
  const std::string in = write_floats("in", {1.0f, 2.0f});
  const auto close_all = [] {
    for (const int file : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) ::close(file);
  };
  ASSERT_EQ(
      run({"codec", "encode", "--codec", "fp32", "--in", in, "--out", path("encoded")}, close_all)
          .code,
      0);
  EXPECT_EQ(decode(path("encoded")).code, 0);
  EXPECT_TRUE(read("out") == read("in"));
}

}  // namespace
}  // namespace tributary
