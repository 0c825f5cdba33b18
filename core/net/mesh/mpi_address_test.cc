#include "core/net/mesh/mpi_address.h"

#include <gtest/gtest.h>

namespace tributary {
namespace {

TEST(MpiAddress, IsReadAsItIsWritten) {
  for (const MpiAddress& address :
       {MpiAddress{.run = 1, .rank = 0}, MpiAddress{.run = 0xc0ffee, .rank = 3},
        MpiAddress{.run = UINT64_MAX, .rank = kMpiRanksMax - 1}}) {
    const Result<MpiAddress> again = parse_mpi_address(text_of(address));
    ASSERT_TRUE(again.ok()) << again.status().text();
    EXPECT_EQ(*again, address);
  }
  EXPECT_EQ(text_of(MpiAddress{.run = 0xc0ffee, .rank = 3}), "mpi://0000000000c0ffee/3");
}

TEST(MpiAddress, HasOneWayToBeWritten) {
  for (const char* const bad :
       {"", "mpi://", "mpi://0000000000c0ffee", "mpi://0000000000c0ffee/", "mpi://c0ffee/3",
        "mpi://0000000000C0FFEE/3", "mpi://0000000000c0ffee/03", "mpi://0000000000c0ffee/-1",
        "mpi://0000000000c0ffee/65536", "mpi://0000000000c0ffee/3 ", "mpi://0000000000c0ffee:3",
        "mpi://0000000000000000/3", "mpi://-000000000c0ffee/3", "tcp://0000000000c0ffee/3",
        "mpi://0000000000c0ffee/99999999999999999999"}) {
    EXPECT_EQ(parse_mpi_address(bad).status().code(), StatusCode::invalid_argument) << bad;
  }
}

TEST(MpiAddress, IsRecognizedByItsPrefix) {
  EXPECT_TRUE(is_mpi_address("mpi://anything"));
  EXPECT_FALSE(is_mpi_address("tcp://192.0.2.7:4650"));
  EXPECT_FALSE(is_mpi_address(""));
}

TEST(MpiAddress, AnErrorRepeatsNoMoreThanItNeeds) {
  const Status status = parse_mpi_address("mpi://" + std::string(1'000'000, 'a')).status();
  EXPECT_LT(status.text().size(), 300u);
}

}  // namespace
}  // namespace tributary
