#!/usr/bin/env python3
"""What flatc defines inline is defined once, in the source that its header declares it for."""

import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "schemas"))
import split_header  # noqa: E402

HEADER = """namespace a {
namespace b {

bool operator==(const PlanT &lhs, const PlanT &rhs);
inline const char *EnumNameUnit(Unit e) {
  return "";
}
struct PlanT : public flatbuffers::NativeTable {
  PlanT() = default;
  PlanT(const PlanT &o);
  PlanT(PlanT&&) FLATBUFFERS_NOEXCEPT = default;
  PlanT &operator=(PlanT o) FLATBUFFERS_NOEXCEPT;
};
inline flatbuffers::Offset<Plan> CreatePlan(
    flatbuffers::FlatBufferBuilder &_fbb, uint32_t rounds = 1) {
  return 0;
}
inline bool operator==(const PlanT &lhs, const PlanT &rhs) {
  return true;
}
inline PlanT::PlanT(const PlanT &o)
      : id(o.id) {
}
inline PlanT &PlanT::operator=(PlanT o) FLATBUFFERS_NOEXCEPT {
  return *this;
}
inline PlanT *Plan::UnPack(const flatbuffers::resolver_function_t *_resolver) const {
  return nullptr;
}
inline flatbuffers::Offset<Plan> CreatePlan(flatbuffers::FlatBufferBuilder &_fbb, const PlanT *_o, int _rehasher) {
  return 0;
}
inline bool operator==(const MessageUnion &lhs, const MessageUnion &rhs) {
  return true;
}
}  // namespace b
}  // namespace a
"""


class Split(unittest.TestCase):
    def setUp(self):
        self.header, self.source = split_header.split(HEADER, "schemas/frame_generated.h")

    def test_object_functions_move(self):
        for start in ("bool operator==(const PlanT &lhs", "PlanT::PlanT(const PlanT &o)",
                      "PlanT &PlanT::operator=(", "PlanT *Plan::UnPack(",
                      "flatbuffers::Offset<Plan> CreatePlan(flatbuffers::FlatBufferBuilder &_fbb, const"):
            with self.subTest(start):
                self.assertIn(f"\n{start}", self.source)
                self.assertNotIn(f"inline {start}", self.header)
        self.assertNotIn("inline", self.source)

    def test_the_union_is_declared(self):
        self.assertIn("\nbool operator==(const MessageUnion &lhs, const MessageUnion &rhs);\n",
                      self.header)
        self.assertIn("\nbool operator==(const MessageUnion &lhs, const MessageUnion &rhs) {\n",
                      self.source)

    def test_what_objects_own_is_known_to_the_source_alone(self):
        self.assertNotIn("default", self.header)
        for line in ("PlanT::PlanT() = default;", "PlanT::PlanT(PlanT&&) noexcept = default;",
                     "PlanT::~PlanT() = default;"):
            self.assertIn(f"\n{line}\n", self.source)

    def test_the_rest_stays(self):
        self.assertIn("inline const char *EnumNameUnit(Unit e) {", self.header)
        self.assertIn("inline flatbuffers::Offset<Plan> CreatePlan(\n", self.header)

    def test_the_source_has_the_headers_namespace(self):
        self.assertTrue(self.source.startswith(
            '#include "schemas/frame_generated.h"\n\nnamespace a::b {\n'), self.source)


if __name__ == "__main__":
    unittest.main()
