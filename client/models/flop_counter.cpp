#include "client/models/flop_counter.h"

#include <ATen/ATen.h>
#include <ATen/record_function.h>

#include <memory>
#include <string_view>

namespace starling::models {

namespace {

double counted = 0;  // a global, because LibTorch calls plain functions

double product(at::IntArrayRef sizes, std::size_t from = 0) {
  double result = 1;
  for (std::size_t i = from; i < sizes.size(); ++i) result *= static_cast<double>(sizes[i]);
  return result;
}

// Number of positions at which the kernel is applied, in one image and channel.
double convolved_places(const std::vector<c10::IValue>& inputs) {
  const at::Tensor image = inputs[0].toTensor(), weight = inputs[1].toTensor();
  if (inputs[6].toBool()) return product(image.sizes(), 2);  // transposed
  const auto stride = inputs[3].toIntVector(), padding = inputs[4].toIntVector(), dilation = inputs[5].toIntVector();
  double places = 1;
  for (std::int64_t i = 0; i + 2 < image.dim(); ++i) {
    const auto of = [i](const std::vector<std::int64_t>& each) {
      return each.size() == 1 ? each[0] : each[static_cast<std::size_t>(i)];
    };
    const std::int64_t reach = of(dilation) * (weight.size(i + 2) - 1) + 1;
    places *= static_cast<double>((image.size(i + 2) + 2 * of(padding) - reach) / of(stride) + 1);
  }
  return places;
}

double multiplications(const at::RecordFunction& call) {
  const std::string_view name = call.name();
  const auto sizes = [&](std::size_t i) { return call.inputs()[i].toTensor().sizes(); };
  if (name == "aten::mm") return product(sizes(0)) * static_cast<double>(sizes(1)[1]);
  if (name == "aten::addmm") return product(sizes(1)) * static_cast<double>(sizes(2)[1]);
  if (name == "aten::bmm") return product(sizes(0)) * static_cast<double>(sizes(1)[2]);
  if (name == "aten::baddbmm") return product(sizes(1)) * static_cast<double>(sizes(2)[2]);
  if (name == "aten::convolution") {
    const std::vector<c10::IValue> inputs(call.inputs().begin(), call.inputs().end());
    return static_cast<double>(sizes(0)[0]) * convolved_places(inputs) * product(sizes(1));
  }
  if (name == "aten::convolution_backward") {
    const at::Tensor upstream = call.inputs()[0].toTensor(), weight = call.inputs()[2].toTensor();
    const auto wanted = call.inputs()[10].toBoolList();
    const double each = static_cast<double>(upstream.numel() / weight.size(0) * weight.numel());
    return each * (static_cast<int>(wanted[0]) + static_cast<int>(wanted[1]));
  }
  return 0;
}

std::unique_ptr<at::ObserverContext> count(const at::RecordFunction& call) {
  counted += 2 * multiplications(call);
  return nullptr;
}

}  // namespace

FlopCounter::FlopCounter()
    : handle_((counted = 0, at::addGlobalCallback(at::RecordFunctionCallback(count).needsInputs(true)))) {}
FlopCounter::~FlopCounter() { at::removeCallback(handle_); }
double FlopCounter::flops() const { return counted; }

}  // namespace starling::models
