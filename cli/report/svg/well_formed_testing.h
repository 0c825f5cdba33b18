// Checks whether a text is well-formed XML, as far as our own writers could break it: closed tags,
// quoted values, no stray markup. complaint() returns an empty text, or the first error.
#pragma once

#include <cctype>
#include <string>
#include <string_view>
#include <vector>

namespace tributary::report {

class XmlCheck {
 public:
  explicit XmlCheck(std::string_view text) : rest_(text) {}

  std::string complaint() {
    take("<!DOCTYPE html>\n");
    while (!rest_.empty() && complaint_.empty()) {
      if (take("</")) {
        close();
      } else if (take("<")) {
        open();
      } else {
        content(rest_.find('<'));
      }
    }
    if (complaint_.empty() && !open_.empty()) complaint_ = "<" + open_.back() + "> is not closed";
    return complaint_;
  }

 private:
  bool take(std::string_view expected) {
    if (!rest_.starts_with(expected)) return false;
    rest_.remove_prefix(expected.size());
    return true;
  }

  std::string name() {
    std::size_t size = 0;
    while (size < rest_.size() && (std::isalnum(static_cast<unsigned char>(rest_[size])) != 0 ||
                                   rest_[size] == '-' || rest_[size] == ':')) {
      ++size;
    }
    std::string name(rest_.substr(0, size));
    rest_.remove_prefix(size);
    if (name.empty()) complain("a name is missing");
    return name;
  }

  void open() {
    const std::string tag = name();
    while (complaint_.empty() && take(" ")) {
      name();
      if (!take("=\"")) return complain("a value is not in quotes");
      const std::size_t end = rest_.find('"');
      if (end == std::string_view::npos) return complain("a value has no end");
      content(end);
      take("\"");
    }
    if (take("/>")) return;
    if (!take(">")) return complain("<" + tag + " has no end");
    open_.push_back(tag);
  }

  void close() {
    const std::string tag = name();
    if (!take(">")) return complain("</" + tag + " has no end");
    if (open_.empty() || open_.back() != tag) return complain("</" + tag + "> closes nothing");
    open_.pop_back();
  }

  void content(std::size_t size) {
    const std::string_view text = rest_.substr(0, size);
    if (text.find('<') != std::string_view::npos) return complain("markup inside of a value");
    for (std::size_t at = text.find('&'); at != std::string_view::npos;
         at = text.find('&', at + 1)) {
      const std::string_view entity = text.substr(at, text.find(';', at) - at + 1);
      if (entity != "&amp;" && entity != "&lt;" && entity != "&gt;" && entity != "&quot;" &&
          entity != "&#39;") {
        return complain("an unknown entity");
      }
    }
    for (const char c : text) {
      if (static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t') {
        return complain("a control character");
      }
    }
    rest_.remove_prefix(text.size());
  }

  void complain(const std::string& what) {
    complaint_ = what + " before '" + std::string(rest_.substr(0, 60)) + "'";
  }

  std::string_view rest_;
  std::vector<std::string> open_;
  std::string complaint_;
};

inline std::string xml_complaint(std::string_view text) { return XmlCheck(text).complaint(); }

}  // namespace tributary::report
