#include "core/train/torch/script_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>
#include <vector>

namespace tributary {
namespace {

// ATen's numbers of scalar types.
constexpr int kLong = 4;
constexpr int kFloat = 6;

// Writes one statement per operation. Variables that hold inputs of residual blocks are numbered.
class ScriptWriter {
 public:
  explicit ScriptWriter(const NetworkPlan& plan) : plan_(plan) {}

  std::string write() {
    for (const Operation& operation : plan_.operations) add(operation);
    return "def forward(self, x):\n" + body_ + "    return x\n";
  }

 private:
  template <typename... Args>
  void line(fmt::format_string<Args...> format, Args&&... args) {
    body_ += "    " + fmt::format(format, std::forward<Args>(args)...) + "\n";
  }

  // Accesses every part by getattr with its text, because a part may be "0" or a keyword, which the
  // language would not accept as a name.
  static std::string path_to(std::string_view name) {
    std::string path = "self";
    for (std::size_t begin = 0; begin <= name.size();) {
      const std::size_t end = std::min(name.find('.', begin), name.size());
      path = fmt::format("getattr({}, \"{}\")", path, name.substr(begin, end - begin));
      begin = end + 1;
    }
    return path;
  }

  std::string weight(const Operation& operation, std::uint32_t which = 0) const {
    return path_to(plan_.layers[operation.first_parameter + which].shape.name);
  }
  std::string buffer(const Operation& operation, std::uint32_t which) const {
    return path_to(plan_.layers[plan_.parameters + operation.first_buffer + which].shape.name);
  }

  void add(const Operation& operation) {
    switch (operation.kind) {
      case OperationKind::flatten:
        return line("x = torch.flatten(x, 1)");
      case OperationKind::linear:
        return line("x = torch.linear(x, {}, {})", weight(operation), weight(operation, 1));
      case OperationKind::convolution:
        return line("x = torch.conv2d(x, {0}, {1}, [{2}, {2}], [{3}, {3}])", weight(operation),
                    operation.bias ? weight(operation, 1) : "None", operation.stride,
                    operation.padding);
      case OperationKind::batch_norm:
        return line("x = torch.batch_norm(x, {}, {}, {}, {}, self.training, {}, {}, False)",
                    weight(operation), weight(operation, 1), buffer(operation, 0),
                    buffer(operation, 1), kNormMomentum, kNormEpsilon);
      case OperationKind::relu:
        return line("x = torch.relu(x)");
      case OperationKind::gelu:
        return line("x = torch.gelu(x)");
      case OperationKind::max_pool:
        return line("x = torch.max_pool2d(x, [2, 2])");
      case OperationKind::global_mean:
        return line("x = torch.mean(x, [2, 3])");
      case OperationKind::embedding:
        return add_embedding(operation);
      case OperationKind::layer_norm:
        return line("x = torch.layer_norm(x, [{}], {}, {})", operation.in, weight(operation),
                    weight(operation, 1));
      case OperationKind::attention:
        return add_attention(operation);
      case OperationKind::residual_begin:
        remembered_.push_back(next_++);
        return line("kept{} = x", remembered_.back());
      case OperationKind::residual_end:
        return add_shortcut(operation);
    }
  }

  // The same as BuiltInNetwork::shortcut().
  void add_shortcut(const Operation& operation) {
    const std::string kept = fmt::format("kept{}", remembered_.back());
    remembered_.pop_back();
    if (operation.stride != 1 || operation.in != operation.out) {
      for (const int dimension : {2, 3}) {
        line("{0} = torch.slice({0}, {1}, 0, torch.size({0}, {1}), {2})", kept, dimension,
             operation.stride);
      }
      line("{0} = torch.constant_pad_nd({0}, [0, 0, 0, 0, 0, {1}], 0)", kept,
           operation.out - operation.in);
    }
    line("x = torch.add(x, {})", kept);
  }

  void add_embedding(const Operation& operation) {
    line("places = torch.arange(torch.size(x, 1), dtype={}, device=x.device)", kLong);
    line("x = torch.add(torch.embedding({}, x), torch.embedding({}, places))", weight(operation),
         weight(operation, 1));
  }

  // The same as BuiltInNetwork::attend().
  void add_attention(const Operation& operation) {
    const std::uint32_t columns = operation.in / operation.heads;
    line("n = torch.size(x, 0)");
    line("length = torch.size(x, 1)");
    line(
        "heads = torch.permute(torch.view(torch.linear(x, {}, {}), [n, length, 3, {}, {}]), "
        "[2, 0, 3, 1, 4])",
        weight(operation), weight(operation, 1), operation.heads, columns);
    line(
        "scores = torch.div(torch.matmul(torch.select(heads, 0, 0), "
        "torch.transpose(torch.select(heads, 0, 1), -2, -1)), {:#.17g})",
        std::sqrt(static_cast<double>(columns)));
    line(
        "later = torch.gt(torch.triu(torch.ones([length, length], dtype={}, device=x.device), 1), "
        "0)",
        kFloat);
    line("shares = torch.softmax(torch.masked_fill(scores, later, float(\"-inf\")), -1)");
    line(
        "mixed = torch.reshape(torch.transpose(torch.matmul(shares, torch.select(heads, 0, 2)), 1, "
        "2), [n, length, {}])",
        operation.in);
    line("x = torch.linear(mixed, {}, {})", weight(operation, 2), weight(operation, 3));
  }

  const NetworkPlan& plan_;
  std::string body_;
  std::vector<std::uint32_t> remembered_;
  std::uint32_t next_ = 0;
};

}  // namespace

std::string script_source(const NetworkPlan& plan) { return ScriptWriter(plan).write(); }

}  // namespace tributary
