#include "client/training/graphics_card.h"

#ifdef STARLING_CUDA
#include <ATen/ATen.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAFunctions.h>

#include <exception>
#endif

namespace starling::training {

#ifdef STARLING_CUDA

namespace {

constexpr int kCard = 0;

// Products, convolutions and norms once, there and back: cuBLAS and cuDNN load what they need.
void warm_up(const at::Device& device) {
  const at::Tensor images = at::ones({2, 32, 8, 8}, at::TensorOptions(device).requires_grad(true));
  const at::Tensor kernels = at::ones({32, 32, 3, 3}, at::TensorOptions(device).requires_grad(true));
  const at::Tensor maps = at::group_norm(at::conv2d(images, kernels), 32);
  const at::Tensor rows = maps.reshape({2, -1});
  at::mm(rows, rows.t()).sum().backward();
}

}  // namespace

Result<std::string> open_graphics_card(int memory_percent) {
  try {
    if (c10::cuda::device_count() == 0) return std::string();
    at::globalContext().lazyInitCUDA();
    c10::cuda::CUDACachingAllocator::setMemoryFraction(memory_percent / 100.0, kCard);
    const at::Device device(at::kCUDA, kCard);
    warm_up(device);
    return device.str();
  } catch (const c10::Error& error) {
    return Error{ErrorCode::internal, std::string("open the graphics card: ") + error.what_without_backtrace()};
  } catch (const std::exception& error) {
    return Error{ErrorCode::internal, std::string("open the graphics card: ") + error.what()};
  }
}

void trim_graphics_memory() { c10::cuda::CUDACachingAllocator::emptyCache(); }

#else

Result<std::string> open_graphics_card(int /*memory_percent*/) { return std::string(); }
void trim_graphics_memory() {}

#endif

}  // namespace starling::training
