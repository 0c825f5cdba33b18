// Tests of reading CSV files: labels, scales, errors with line and column, and limits of memory.
#include "core/data/formats/csv.h"

#include <gmock/gmock.h>

namespace tributary {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Result<CsvTable> parse(std::string_view text, const CsvOptions& options,
                       const CsvLimits& limits = {}) {
  return parse_csv(bytes_of(text), options, limits);
}

TEST(Csv, TakesTheLastColumnAsLabel) {
  const auto csv = parse("width,height,kind\n1.5,-2,0\n3e2, 4 ,2\n", {.classes = 3});
  ASSERT_TRUE(csv.ok()) << csv.status().text();
  EXPECT_THAT(csv->names, ElementsAre("width", "height"));
  EXPECT_EQ(csv->label, "kind");
  EXPECT_THAT(csv->table.features, ElementsAre(1.5f, -2.0f, 300.0f, 4.0f));
  EXPECT_THAT(csv->table.labels, ElementsAre(0, 2));
  EXPECT_THAT(csv->table.shape.dims, ElementsAre(2));
  EXPECT_EQ(csv->table.shape.classes, 3u);
}

TEST(Csv, FindsTheLabelByNameOrNumber) {
  for (const char* label : {"kind", "2"}) {
    const auto csv = parse("a,kind,b\n1,0,2\n", {.label = label, .classes = 2});
    ASSERT_TRUE(csv.ok()) << csv.status().text();
    EXPECT_THAT(csv->table.features, ElementsAre(1, 2));
    EXPECT_THAT(csv->names, ElementsAre("a", "b"));
  }
  EXPECT_THAT(parse("a,b\n1,0\n", {.label = "c"}).status().text(),
              AllOf(HasSubstr("one of 'a', 'b'"), HasSubstr("got 'c'")));
  EXPECT_FALSE(parse("a,b\n1,0\n", {.label = "3"}).ok());
  EXPECT_FALSE(parse("a,b\n1,0\n", {.label = "0"}).ok());
}

TEST(Csv, WithoutClassesItIsARegression) {
  const auto csv = parse("1,2,3.5\n4,5,6.5\n", {});
  ASSERT_TRUE(csv.ok()) << csv.status().text();
  EXPECT_EQ(csv->table.shape.task, DataTask::regression);
  EXPECT_THAT(csv->table.targets, ElementsAre(3.5f, 6.5f));
  EXPECT_THAT(csv->names, IsEmpty());
  EXPECT_THAT(csv->table.labels, IsEmpty());
}

TEST(Csv, ColumnsAreScaledButNotTheLabel) {
  const char* text = "kind,a,b\n1,10,3\n0,20,5\n";
  const CsvOptions labels = {.label = "kind", .classes = 2};
  CsvOptions options = labels;
  options.scales = {{.mean = 10, .deviation = 5}, {.mean = 3, .deviation = 0.5}};
  const auto each = parse(text, options);
  ASSERT_TRUE(each.ok()) << each.status().text();
  EXPECT_THAT(each->table.features, ElementsAre(0, 0, 2, 4));
  EXPECT_THAT(each->table.labels, ElementsAre(1, 0));
  options.scales = {{.mean = 0, .deviation = 10}};
  EXPECT_THAT(parse(text, options)->table.features, ElementsAre(1, 0.3f, 2, 0.5f));
  options = {.label = "kind", .scales = {{.mean = 1}}};
  EXPECT_THAT(parse(text, options)->table.targets, ElementsAre(1, 0)) << "a target stays";
}

TEST(Csv, ScalesThatDoNotFitAreRefused) {
  const auto refused = [](std::vector<FeatureScale> scales) {
    return parse("1e38,2,0\n", {.scales = std::move(scales)}).status();
  };
  EXPECT_THAT(refused({{}, {}, {}}).text(), AllOf(HasSubstr("one, or 2"), HasSubstr("got 3")));
  EXPECT_EQ(refused({{.deviation = 0}}).code(), StatusCode::invalid_argument);
  EXPECT_THAT(refused({{.deviation = 1e-9}}).text(), HasSubstr("line 1, column 1"));
}

TEST(Csv, HeaderCanBeStated) {
  EXPECT_EQ(parse("1,2\n3,4\n", {.header = CsvHeader::yes})->table.targets.size(), 1u);
  EXPECT_EQ(parse("1,2\n3,4\n", {.header = CsvHeader::automatic})->table.targets.size(), 2u);
  EXPECT_THAT(parse("a,2\n3,4\n", {.header = CsvHeader::no}).status().text(),
              HasSubstr("line 1, column 1"));
}

// A byte order mark, semicolons, quotes with line ends, \r\n, empty lines, and no line end at the
// end.
TEST(Csv, ReadsTheOutputOfSpreadsheets) {
  const auto csv =
      parse("\xef\xbb\xbf\"a, \"\"b\"\"\nand c\";y\r\n\"1\";+2\r\n\r\n3;4", {.separator = ';'});
  ASSERT_TRUE(csv.ok()) << csv.status().text();
  EXPECT_THAT(csv->names, ElementsAre("a, \"b\"\nand c"));
  EXPECT_THAT(csv->table.features, ElementsAre(1, 3));
  EXPECT_THAT(csv->table.targets, ElementsAre(2, 4));
}

TEST(Csv, ErrorsNameLineAndColumn) {
  const struct {
    std::string_view text;
    std::string_view place;
    std::string_view message;
  } kCases[] = {
      {"a,b,y\n1,2,0\n1,x,0\n", "line 3, column 2", "got 'x'"},
      {"a,b,y\n1,,0\n", "line 2, column 2", "got nothing"},
      {"a,b,y\n1,nan,0\n", "line 2, column 2", "finite"},
      {"a,b,y\n1,inf,0\n", "line 2, column 2", "finite"},
      {"a,b,y\n1,1e39,0\n", "line 2, column 2", "float32"},
      {"a,b,y\n1,2,2\n", "line 2, column 3", "a whole number from 0 to 1"},
      {"a,b,y\n1,2,-1\n", "line 2, column 3", "a whole number from 0 to 1"},
      {"a,b,y\n1,2,0.5\n", "line 2, column 3", "a whole number from 0 to 1"},
      {"a,b,y\n1,2,0\n\n1,0\n", "line 4, column 2", "expected 3 columns"},
      {"a,b,y\n1,2,0,7\n", "line 2, column 3", "got 4"},
      {"a,b,y\n1,\"2,0\n", "line 2, column 2", "a closing quote"},
      {"a,b,y\n1,\"2\"x,0\n", "line 2, column 2", "behind a closing quote"},
      {"\"a\n\n\",b,y\n1,x,0\n", "line 4, column 2", "got 'x'"},
      {"a\n1\n", "line 1, column 1", "two columns or more"},
  };
  for (const auto& each : kCases) {
    const Status status = parse(each.text, {.classes = 2}).status();
    EXPECT_EQ(status.code(), StatusCode::corrupt_data) << each.text;
    EXPECT_THAT(status.text(), AllOf(HasSubstr(each.place), HasSubstr(each.message)));
  }
}

TEST(Csv, NothingIsNoTable) {
  EXPECT_THAT(parse("", {}).status().text(), HasSubstr("one line per example"));
  EXPECT_THAT(parse("a,b\n", {}).status().text(), HasSubstr("one line per example"));
  EXPECT_FALSE(parse("\n\n", {}).ok());
}

TEST(Csv, KeepsItsLimits) {
  EXPECT_EQ(parse("1,2,3\n", {}, {.columns_max = 2}).status().code(),
            StatusCode::resource_exhausted);
  EXPECT_TRUE(parse("1,2\n3,4\n", {}, {.memory_bytes_max = 16}).ok());
  EXPECT_EQ(parse("1,2\n3,4\n5,6\n", {}, {.memory_bytes_max = 16}).status().code(),
            StatusCode::resource_exhausted);
  EXPECT_FALSE(parse("1,2\n", {.classes = 1}).ok());
  EXPECT_FALSE(parse("1,2\n", {.classes = 65537}).ok());
  EXPECT_FALSE(parse("1,2\n", {.separator = '"'}).ok());
}

}  // namespace
}  // namespace tributary
