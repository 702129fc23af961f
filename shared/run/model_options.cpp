#include "shared/run/model_options.h"

#include <fmt/format.h>

#include <limits>

#include "shared/run/manifest_fields.h"
#include "shared/run/model_layout.h"

namespace starling::wire {
namespace {

class ModelChecks {
 public:
  explicit ModelChecks(Checker& check) : check_(check) {}
  template <typename Number>
  void operator()(std::string_view name, Number value, const ModelSetting<Number>& setting) const {
    check_.within(fmt::format("model.{}", name), value, setting.least, setting.most);
  }
  template <typename Word>
  void operator()(std::string_view /*name*/, Word /*value*/, const ModelWord<Word>& /*setting*/) const {}

 private:
  Checker& check_;
};

}  // namespace

void check_model(Checker& check, const ModelOptions& model) {
  each_model_setting(model, ModelChecks(check));
  if (!check.status().ok()) return;
  const bool attends = model.architecture == Architecture::gpt || model.architecture == Architecture::albert;
  const bool rotary = model.positions == Positions::rotary;
  const int parts = attends ? (rotary ? 2 * model.heads : model.heads) : 1;
  check.that(model.width % parts == 0, "model.width", fmt::format("{}", model.width),
             rotary ? fmt::format("a multiple of twice model.heads ({})", model.heads)
                    : fmt::format("a multiple of model.heads ({})", model.heads));
  if (model.architecture == Architecture::albert) {
    check.within("model.context", model.context, kMaskedContextMin, std::numeric_limits<int>::max());
    check.within("model.vocabulary", model.vocabulary, kReservedTokens + 1, std::numeric_limits<int>::max());
  }
  if (model.architecture == Architecture::resnet) {
    check.that(model.layers == 18 || model.layers == 50, "model.layers", fmt::format("{}", model.layers), "18 or 50");
  }
}

}  // namespace starling::wire
