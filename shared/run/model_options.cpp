#include "shared/run/model_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "shared/run/manifest_fields.h"
#include "shared/run/model_layout.h"

namespace starling::wire {
namespace {

// "'a', 'b' or 'c'"
std::string quoted(const std::vector<std::string_view>& words) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i) {
    text += fmt::format("{}'{}'", i == 0 ? "" : i + 1 == words.size() ? " or " : ", ", words[i]);
  }
  return text;
}

class ModelChecks {
 public:
  explicit ModelChecks(Checker& check) : check_(check) {}
  template <typename Number>
  void operator()(std::string_view name, Number value, const ModelSetting<Number>& setting) const {
    check_.within(fmt::format("model.{}", name), value, setting.least, setting.most);
  }
  void operator()(std::string_view name, const std::string& value, const ModelWord& setting) const {
    const bool known = std::find(setting.words.begin(), setting.words.end(), value) != setting.words.end();
    check_.word(fmt::format("model.{}", name), value, known, quoted(setting.words));
  }

 private:
  Checker& check_;
};

}  // namespace

void check_model(Checker& check, const ModelOptions& model) {
  check.word("model.architecture", model.architecture, is_architecture(model.architecture),
             fmt::format("one of {}", architectures()));
  each_model_setting(model, ModelChecks(check));
  if (!check.status().ok()) return;
  const bool attends = model.architecture == "gpt" || model.architecture == "albert";
  const int parts = attends ? (model.positions == "rotary" ? 2 * model.heads : model.heads) : 1;
  check.that(model.width % parts == 0, "model.width", fmt::format("{}", model.width),
             model.positions == "rotary" ? fmt::format("a multiple of twice model.heads ({})", model.heads)
                                         : fmt::format("a multiple of model.heads ({})", model.heads));
  if (model.architecture == "albert") {
    check.within("model.context", model.context, kMaskedContextMin, std::numeric_limits<int>::max());
    check.within("model.vocabulary", model.vocabulary, kReservedTokens + 1, std::numeric_limits<int>::max());
  }
  if (model.architecture == "resnet") {
    check.that(model.layers == 18 || model.layers == 50, "model.layers", fmt::format("{}", model.layers), "18 or 50");
  }
}

}  // namespace starling::wire
