#include <array>
#include <cmath>

#include "shared/run/layouts.h"

namespace starling::wire {

std::vector<Convolution> resnet_convolutions(const ModelOptions& model) {
  constexpr int kLargestKept = 64;  // pixels
  constexpr std::array kBlocks18 = {2, 2, 2, 2}, kBlocks50 = {3, 4, 6, 3};
  const bool small = model.image_size <= kLargestKept, deep = model.layers == 50;
  const auto shrunk = [](int size, int stride) { return (size + stride - 1) / stride; };
  std::vector<Convolution> all;
  const int first = small ? 3 : 7, first_stride = small ? 1 : 2;
  all.push_back({"first", model.channels, 64, first, first_stride, shrunk(model.image_size, first_stride)});
  int size = shrunk(all.back().size, first_stride);  // large images are pooled once more
  int channels = 64;
  for (int stage = 0; stage < 4; ++stage) {
    const int inner = 64 << stage, outer = deep ? 4 * inner : inner;
    const int blocks = (deep ? kBlocks50 : kBlocks18)[static_cast<std::size_t>(stage)];
    for (int block = 0; block < blocks; ++block) {
      const std::string name = "stage" + std::to_string(stage) + ".block" + std::to_string(block) + ".";
      const int stride = stage > 0 && block == 0 ? 2 : 1;
      const int from = size;
      size = shrunk(size, stride);
      if (deep) {
        all.push_back({name + "narrow", channels, inner, 1, 1, from});
        all.push_back({name + "middle", inner, inner, 3, stride, size});
        all.push_back({name + "last", inner, outer, 1, 1, size});
      } else {
        all.push_back({name + "middle", channels, inner, 3, stride, size});
        all.push_back({name + "last", inner, outer, 3, 1, size});
      }
      if (channels != outer || stride != 1) all.push_back({name + "shortcut", channels, outer, 1, stride, size});
      channels = outer;
    }
  }
  return all;
}

std::vector<ParameterInfo> resnet_layout(const ModelOptions& model) {
  LayoutBuilder builder;
  const std::vector<Convolution> convolutions = resnet_convolutions(model);
  int channels = 0;
  for (const Convolution& convolution : convolutions) {
    const std::int64_t fan_in = std::int64_t{convolution.in} * convolution.kernel * convolution.kernel;
    builder.matrix(convolution.name + ".weight", convolution.out, fan_in,
                   uniform_bound(std::sqrt(2.0 / static_cast<double>(fan_in))));
    // A block begins as its shortcut alone: deep stacks of such blocks start well (Goyal et al. 2017).
    const bool is_last = convolution.name.ends_with(".last");
    builder.vector(convolution.name + "_norm.weight", convolution.out, is_last ? 0 : 1);
    builder.vector(convolution.name + "_norm.bias", convolution.out, 0);
    if (is_last) channels = convolution.out;
  }
  builder.embedding("classes.weight", model.classes, channels, 1 / std::sqrt(static_cast<double>(channels)));
  builder.vector("classes.bias", model.classes, 0);
  return builder.take();
}

double resnet_flops(const ModelOptions& model) {
  double multiplications = 0, first = 0;
  int channels = 0;
  for (const Convolution& convolution : resnet_convolutions(model)) {
    const double here = static_cast<double>(convolution.size) * convolution.size * convolution.kernel *
                        convolution.kernel * convolution.in * convolution.out;
    (convolution.name == "first" ? first : multiplications) += here;
    channels = convolution.out;
  }
  return flops_of(multiplications + static_cast<double>(channels) * model.classes, first);
}

double resnet_activations(const ModelOptions& model) {
  double floats = static_cast<double>(model.channels) * model.image_size * model.image_size;
  constexpr double kEach = 3;  // the results of the convolution, the norm and the rectifier
  for (const Convolution& convolution : resnet_convolutions(model)) {
    floats += kEach * convolution.out * convolution.size * convolution.size;
  }
  return floats;
}

}  // namespace starling::wire
