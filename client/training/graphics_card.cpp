#include "client/training/graphics_card.h"

#ifdef STARLING_CUDA
#include <ATen/ATen.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAFunctions.h>

#include <exception>
#endif

namespace starling::training {

#ifdef STARLING_CUDA

namespace {

// Runs a product, a convolution and a norm once, forward and backward, so that cuBLAS and cuDNN load their parts.
void warm_up(const at::Device& device) {
  const at::Tensor images = at::ones({2, 32, 8, 8}, at::TensorOptions(device).requires_grad(true));
  const at::Tensor kernels = at::ones({32, 32, 3, 3}, at::TensorOptions(device).requires_grad(true));
  const at::Tensor maps = at::group_norm(at::conv2d(images, kernels), 32);
  const at::Tensor rows = maps.reshape({2, -1});
  at::mm(rows, rows.t()).sum().backward();
}

// Takes cards of one kind only: a slower one would delay every batch.
std::vector<at::Device> cards_alike() {
  std::vector<at::Device> cards;
  const std::string kind = c10::cuda::device_count() > 0 ? at::cuda::getDeviceProperties(0)->name : "";
  for (c10::DeviceIndex card = 0; card < c10::cuda::device_count(); ++card) {
    if (at::cuda::getDeviceProperties(card)->name == kind) cards.emplace_back(at::kCUDA, card);
  }
  return cards;
}

}  // namespace

Result<std::vector<std::string>> open_graphics_cards(int memory_percent) {
  try {
    if (c10::cuda::device_count() == 0) return std::vector<std::string>();
    at::globalContext().lazyInitCUDA();
    std::vector<std::string> names;
    for (const at::Device& card : cards_alike()) {
      c10::cuda::CUDACachingAllocator::setMemoryFraction(memory_percent / 100.0, card.index());
      warm_up(card);
      names.push_back(card.str());
    }
    return names;
  } catch (const c10::Error& error) {
    return Error{ErrorCode::internal, std::string("open the graphics cards: ") + error.what_without_backtrace()};
  } catch (const std::exception& error) {
    return Error{ErrorCode::internal, std::string("open the graphics cards: ") + error.what()};
  }
}

bool cards_compute_in_bf16() {
  constexpr int kAmpere = 8;
  return c10::cuda::device_count() > 0 && at::cuda::getDeviceProperties(0)->major >= kAmpere;
}

void trim_graphics_memory() { c10::cuda::CUDACachingAllocator::emptyCache(); }

#else

Result<std::vector<std::string>> open_graphics_cards(int /*memory_percent*/) { return std::vector<std::string>(); }
bool cards_compute_in_bf16() { return false; }
void trim_graphics_memory() {}

#endif

}  // namespace starling::training
