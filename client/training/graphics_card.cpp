#include "client/training/graphics_card.h"

#ifdef STARLING_CUDA
#include <ATen/ATen.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAFunctions.h>

#include <exception>
#include <string_view>
#endif

namespace starling::training {

#ifdef STARLING_CUDA

namespace {

constexpr const char* kNotFound = "its driver finds none";
constexpr const char* kBroken = "it does not work";

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

Error failed(ErrorCode code, const char* what, std::string_view why) {
  return {code, std::string(what) + ": " + std::string(why)};
}

Status look_for_cards() {
  try {
    c10::cuda::device_count_ensure_non_zero();
    return {};
  } catch (const c10::Error& error) {
    return failed(ErrorCode::not_found, kNotFound, error.what_without_backtrace());
  } catch (const std::exception& error) {
    return failed(ErrorCode::not_found, kNotFound, error.what());
  }
}

}  // namespace

Result<std::vector<std::string>> open_graphics_cards(int memory_percent) {
  STARLING_TRY(look_for_cards());
  try {
    at::globalContext().lazyInitCUDA();
    std::vector<std::string> names;
    for (const at::Device& card : cards_alike()) {
      c10::cuda::CUDACachingAllocator::setMemoryFraction(memory_percent / 100.0, card.index());
      warm_up(card);
      names.push_back(card.str());
    }
    return names;
  } catch (const c10::Error& error) {
    return failed(ErrorCode::internal, kBroken, error.what_without_backtrace());
  } catch (const std::exception& error) {
    return failed(ErrorCode::internal, kBroken, error.what());
  }
}

GraphicsCard graphics_card(int number) {
  const cudaDeviceProp* const card = at::cuda::getDeviceProperties(static_cast<c10::DeviceIndex>(number));
  return {card->name, static_cast<std::int64_t>(card->totalGlobalMem)};
}

bool cards_compute_in_bf16() {
  constexpr int kAmpere = 8;
  return c10::cuda::device_count() > 0 && at::cuda::getDeviceProperties(0)->major >= kAmpere;
}

void trim_graphics_memory() { c10::cuda::CUDACachingAllocator::emptyCache(); }

#else

Result<std::vector<std::string>> open_graphics_cards(int /*memory_percent*/) {
  return Error{ErrorCode::unsupported, "this LibTorch is built without CUDA"};
}
GraphicsCard graphics_card(int /*number*/) { return {}; }
bool cards_compute_in_bf16() { return false; }
void trim_graphics_memory() {}

#endif

}  // namespace starling::training
