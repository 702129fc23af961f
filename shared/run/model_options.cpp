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

void check_experts(Checker& check, const ModelOptions& model) {
  check.within("model.active_experts", model.experts.active, 1, experts_in_layer(model));
  check.within("model.expert_every", model.experts.every, 1, model.layers);
  check.that(std::int64_t{experts_in_layer(model)} * (model.layers / model.experts.every) <= kExpertsMax,
             "model.expert_rows", fmt::format("{}", model.experts.rows),
             fmt::format("fewer: {} experts in all are the most", kExpertsMax));
}

}  // namespace

void check_model(Checker& check, const ModelOptions& model) {
  each_model_setting(model, ModelChecks(check));
  if (!check.status().ok()) return;
  const bool is_decoder = model.architecture == Architecture::decoder;
  const bool attends =
      model.architecture == Architecture::gpt || model.architecture == Architecture::albert || is_decoder;
  const bool rotary = is_decoder || model.positions == Positions::rotary;
  const int parts = attends ? (rotary ? 2 * model.heads : model.heads) : 1;
  check.that(model.width % parts == 0, "model.width", fmt::format("{}", model.width),
             rotary ? fmt::format("a multiple of twice model.heads ({})", model.heads)
                    : fmt::format("a multiple of model.heads ({})", model.heads));
  if (is_decoder) {
    check.that(model.heads % kv_heads(model) == 0, "model.kv_heads", fmt::format("{}", model.kv_heads),
               fmt::format("a divisor of model.heads ({})", model.heads));
    if (model.experts.rows > 0) check_experts(check, model);
  }
  if (model.architecture == Architecture::albert) {
    check.within("model.context", model.context, kMaskedContextMin, std::numeric_limits<int>::max());
    check.within("model.vocabulary", model.vocabulary, kReservedTokens + 1, std::numeric_limits<int>::max());
  }
  if (model.architecture == Architecture::resnet) {
    check.that(model.layers == 18 || model.layers == 50, "model.layers", fmt::format("{}", model.layers), "18 or 50");
  }
}

}  // namespace starling::wire
