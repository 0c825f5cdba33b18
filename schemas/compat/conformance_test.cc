// Tests that the current schemas are an evolution of every release. `flatc --conform` finds fields
// with another position or type. It does not find what was removed: fields at the end of a table,
// enum values, whole tables, the identifier. This test finds those in the binary form of both
// schemas.
#include <flatbuffers/reflection_generated.h>
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include "core/base/files/file.h"
#include "schemas/compat/process_testing.h"

namespace tributary {
namespace {

using reflection::BaseType;
using std::filesystem::path;
using ::testing::HasSubstr;

const path kSchemas = TRIBUTARY_SCHEMAS;
constexpr std::size_t kSchemaBytesMax = 1u << 20;

std::vector<path> releases() {
  std::vector<path> found;
  for (const auto& entry : std::filesystem::directory_iterator(kSchemas / "released")) {
    found.push_back(entry.path());
  }
  return found;
}

std::string file_text(const path& name) {
  Result<Bytes> bytes = read_file(name.string(), kSchemaBytesMax);
  EXPECT_TRUE(bytes.ok()) << bytes.status().text();
  return bytes.ok() ? std::string(bytes->begin(), bytes->end()) : std::string();
}

// The binary form (reflection) of the schemas in a folder.
class Schema {
 public:
  explicit Schema(const path& folder) {
    const TemporaryFolder out;
    const Outcome outcome = run_command(TRIBUTARY_FLATC " --schema -b -o " + quoted(out.path()) +
                                        " " + quoted(folder / "frame.fbs"));
    EXPECT_EQ(outcome.exit_code, 0) << outcome.output;
    bytes_ = file_text(out.path() / "frame.bfbs");
    flatbuffers::Verifier verifier(data(), bytes_.size());
    sound_ = reflection::VerifySchemaBuffer(verifier);
    EXPECT_TRUE(sound_);
  }
  bool sound() const { return sound_; }
  const reflection::Schema* operator->() const { return reflection::GetSchema(data()); }

  // Returns a type name such as "[tributary.wire.Layer]" or "ULong", to compare types between
  // schemas.
  std::string type_name(const reflection::Type& type) const {
    const bool list = type.base_type() == BaseType::Vector;
    const BaseType item = list ? type.element() : type.base_type();
    std::string name = reflection::EnumNameBaseType(item);
    if (type.index() >= 0) {
      const auto index = static_cast<flatbuffers::uoffset_t>(type.index());
      const auto* schema = reflection::GetSchema(data());
      name += ":" + (item == BaseType::Obj ? schema->objects()->Get(index)->name()->str()
                                           : schema->enums()->Get(index)->name()->str());
    }
    return list ? "[" + name + "]" : name;
  }

 private:
  const std::uint8_t* data() const { return reinterpret_cast<const std::uint8_t*>(bytes_.data()); }

  std::string bytes_;
  bool sound_ = false;
};

using Complaints = std::vector<std::string>;

void compare_fields(const Schema& old_schema, const reflection::Object& old_object,
                    const Schema& new_schema, const reflection::Object& new_object,
                    Complaints& complaints) {
  for (const reflection::Field* before : *old_object.fields()) {
    const std::string name = old_object.name()->str() + "." + before->name()->str();
    const auto* now = new_object.fields()->LookupByKey(before->name()->c_str());
    if (!now) {
      complaints.push_back(name + " is gone; mark it deprecated instead");
      continue;
    }
    if (now->id() != before->id() || now->offset() != before->offset()) {
      complaints.push_back(name + " has another place");
    }
    if (old_schema.type_name(*before->type()) != new_schema.type_name(*now->type())) {
      complaints.push_back(name + " has another type");
    }
    if (now->default_integer() != before->default_integer() ||
        now->default_real() != before->default_real()) {
      complaints.push_back(name + " has another default");
    }
  }
  for (const reflection::Field* now : *new_object.fields()) {
    if (now->required()) {
      complaints.push_back(now->name()->str() + " is required: older builds may not send it");
    }
  }
}

void compare_objects(const Schema& old_schema, const Schema& new_schema, Complaints& complaints) {
  for (const reflection::Object* before : *old_schema->objects()) {
    const std::string name = before->name()->str();
    const auto* now = new_schema->objects()->LookupByKey(name.c_str());
    if (!now) {
      complaints.push_back(name + " is gone");
    } else if (now->is_struct() != before->is_struct() || now->bytesize() != before->bytesize() ||
               now->minalign() != before->minalign()) {
      complaints.push_back(name + " is a struct and has changed");
    } else {
      compare_fields(old_schema, *before, new_schema, *now, complaints);
    }
  }
}

void compare_enums(const Schema& old_schema, const Schema& new_schema, Complaints& complaints) {
  for (const reflection::Enum* before : *old_schema->enums()) {
    const std::string name = before->name()->str();
    const auto* now = new_schema->enums()->LookupByKey(name.c_str());
    if (!now) {
      complaints.push_back(name + " is gone");
      continue;
    }
    if (old_schema.type_name(*before->underlying_type()) !=
        new_schema.type_name(*now->underlying_type())) {
      complaints.push_back(name + " has another width");
    }
    for (const reflection::EnumVal* value : *before->values()) {
      const auto* same = now->values()->LookupByKey(value->value());
      if (!same || same->name()->str() != value->name()->str()) {
        complaints.push_back(name + "." + value->name()->str() + " has lost its number");
      }
    }
  }
}

// Returns the reasons why the schemas in `now` are not an evolution of those in `before`. Empty if
// they are.
Complaints complaints_about(const path& now, const path& before) {
  Complaints complaints;
  const Outcome outcome =
      run_command(TRIBUTARY_FLATC " --conform " + quoted(before / "frame.fbs") +
                  " --conform-includes " + quoted(before) + " " + quoted(now / "frame.fbs"));
  if (outcome.exit_code != 0) complaints.push_back("flatc: " + outcome.output);
  const Schema old_schema(before);
  const Schema new_schema(now);
  if (!old_schema.sound() || !new_schema.sound()) return {"schemas that cannot be read"};
  if (old_schema->file_ident()->str() != new_schema->file_ident()->str()) {
    complaints.push_back("another identifier");
  }
  compare_objects(old_schema, new_schema, complaints);
  compare_enums(old_schema, new_schema, complaints);
  return complaints;
}

TEST(Conformance, TheCurrentSchemasAreAnEvolutionOfEveryRelease) {
  ASSERT_FALSE(releases().empty());
  for (const path& release : releases()) {
    EXPECT_THAT(complaints_about(kSchemas, release), ::testing::IsEmpty()) << release;
  }
}

struct Change {
  std::string name;
  std::string file;
  std::string from;
  std::string to;
  std::string complaint;  // empty: the change is allowed
};

void PrintTo(const Change& change, std::ostream* out) { *out << change.name; }

class ConformanceOfAChange : public ::testing::TestWithParam<Change> {
 protected:
  // Copies the release and replaces `from` by `to` in the file.
  path changed() const {
    path copy = temporary_.path() / "schemas";
    std::filesystem::copy(released(), copy);
    const path file = copy / GetParam().file;
    std::string text = file_text(file);
    EXPECT_THAT(text, HasSubstr(GetParam().from));
    for (std::size_t at = 0; (at = text.find(GetParam().from, at)) != std::string::npos;) {
      text.replace(at, GetParam().from.size(), GetParam().to);
      at += GetParam().to.size();
    }
    std::ofstream(file) << text;
    return copy;
  }
  static path released() { return kSchemas / "released" / "1"; }

  TemporaryFolder temporary_;
};

TEST_P(ConformanceOfAChange, IsJudged) {
  const Complaints complaints = complaints_about(changed(), released());
  if (GetParam().complaint.empty()) {
    EXPECT_THAT(complaints, ::testing::IsEmpty());
  } else {
    EXPECT_THAT(complaints, ::testing::Contains(HasSubstr(GetParam().complaint)));
  }
}

const Change kChanges[] = {
    {"FieldRetyped", "session.fbs", "retries_max: uint;", "retries_max: ulong;", "types differ"},
    {"FieldRemovedFromTheMiddle", "session.fbs", "  incarnation: ulong;", "  //", "offsets differ"},
    {"FieldRemovedFromTheEnd", "transfer.fbs", "  payload_checksum: ulong;\n}", "}",
     "TransferPart.payload_checksum is gone"},
    {"FieldRenamed", "session.fbs", "retries_max: uint;", "tries_max: uint;",
     "Welcome.retries_max is gone"},
    {"FieldInsertedBefore", "session.fbs", "  retries_max: uint;",
     "  retries_min: uint;\n  retries_max: uint;", "offsets differ"},
    {"FieldMadeRequired", "session.fbs", "agent_id: string;", "agent_id: string (required);",
     "agent_id is required"},
    {"DefaultChanged", "plan.fbs", "segments: uint = 1;", "segments: uint = 2;", "defaults differ"},
    {"TextMadeAList", "job.fbs", "loss: string;", "loss: [string];", "types differ"},
    {"EnumRenumbered", "common.fbs", "unspecified, max, sum,", "unspecified, sum, max,",
     "values differ"},
    {"EnumValueRemoved", "common.fbs", ", sum, reduce, gather }", ", sum, reduce }",
     "Aggregation.gather has lost its number"},
    {"EnumWidened", "common.fbs", "enum Combine : ubyte", "enum Combine : ushort", "types differ"},
    {"MessageInsertedBefore", "frame.fbs", "  Welcome,", "  Layer,\n  Welcome,", "values differ"},
    {"MessageRemoved", "frame.fbs", "  Leave,\n", "", "Message.Leave has lost its number"},
    {"MessageReplaced", "frame.fbs", "  Leave,\n", "  Layer,\n", "Leave has lost its number"},
    {"StructGrown", "common.fbs", "  attempt: uint; ", "  attempt: uint;\n  more: ulong; ",
     "RoundId is a struct and has changed"},
    {"TableRemoved", "exchange.fbs", "GainCurve", "GainLine", "GainCurve is gone"},
    {"IdentifierChanged", "frame.fbs", "\"TRIB\"", "\"TRB2\"", "another identifier"},
    {"FieldAdded", "session.fbs", "  duplicate: bool;", "  duplicate: bool;\n  more: string;", ""},
    {"FieldDeprecated", "session.fbs", "retries_max: uint;", "retries_max: uint (deprecated);", ""},
    {"EnumValueAdded", "common.fbs", ", sum, reduce, gather }", ", sum, reduce, gather, more }",
     ""},
    {"MessageAdded", "frame.fbs", "  Leave,\n", "  Leave,\n  Layer,\n", ""},
    {"CommentsChanged", "frame.fbs", "// The root of everything", "// The root", ""},
};

INSTANTIATE_TEST_SUITE_P(Changes, ConformanceOfAChange, ::testing::ValuesIn(kChanges),
                         [](const auto& change) { return change.param.name; });

// Verification takes time per table, and the number of tables is capped; texts are not counted. A
// list of texts in a table that is itself in a list could refer to the same text a billion times.
TEST(SchemaRules, NoListOfTextsStandsInsideAList) {
  const Schema schema(kSchemas);
  ASSERT_TRUE(schema.sound());
  std::set<std::string> listed;
  for (bool grown = true; grown;) {
    const std::size_t before = listed.size();
    for (const reflection::Object* object : *schema->objects()) {
      for (const reflection::Field* field : *object->fields()) {
        const auto& type = *field->type();
        const bool list = type.base_type() == BaseType::Vector && type.element() == BaseType::Obj;
        const bool one = type.base_type() == BaseType::Obj;
        if (list || (one && listed.contains(object->name()->str()))) {
          const auto index = static_cast<flatbuffers::uoffset_t>(type.index());
          listed.insert(schema->objects()->Get(index)->name()->str());
        }
      }
    }
    grown = listed.size() > before;
  }
  EXPECT_TRUE(listed.contains("tributary.wire.Member"));
  for (const std::string& name : listed) {
    for (const auto* field : *schema->objects()->LookupByKey(name.c_str())->fields()) {
      EXPECT_NE(schema.type_name(*field->type()), "[String]")
          << name << "." << field->name()->str();
    }
  }
}

}  // namespace
}  // namespace tributary
