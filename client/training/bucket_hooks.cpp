#include "client/training/bucket_hooks.h"

#include <torch/csrc/autograd/function_hook.h>
#include <torch/csrc/autograd/functions/accumulate_grad.h>

#include <algorithm>
#include <memory>
#include <unordered_set>
#include <utility>
#include <vector>

#include "shared/base/verify.h"

namespace starling::training {

namespace {

using torch::autograd::AccumulateGrad;
using torch::autograd::Node;
using torch::autograd::variable_list;

// Leaves of the backward pass from here: one for each tensor, however often the model uses it. It runs once, after the
// backward pass has gone through all uses.
std::vector<AccumulateGrad*> accumulators_of(const at::Tensor& loss) {
  std::vector<AccumulateGrad*> found;
  std::unordered_set<Node*> seen;
  std::vector<Node*> ahead{loss.grad_fn().get()};
  while (!ahead.empty()) {
    Node* const node = ahead.back();
    ahead.pop_back();
    if (node == nullptr || !seen.insert(node).second) continue;
    if (auto* const accumulator = dynamic_cast<AccumulateGrad*>(node)) found.push_back(accumulator);
    for (const auto& edge : node->next_edges()) ahead.push_back(edge.function.get());
  }
  return found;
}

struct Waiting {
  wire::Bucket bucket;
  std::size_t tensors = 0;
  std::function<void(const wire::Bucket&)> complete;
};

// Lives as long as the loss's graph.
class Hook final : public torch::autograd::FunctionPostHook {
 public:
  explicit Hook(std::shared_ptr<Waiting> waiting) : waiting_(std::move(waiting)) {}
  variable_list operator()(const variable_list& outputs, const variable_list& /*inputs*/) override {
    if (--waiting_->tensors == 0) waiting_->complete(waiting_->bucket);
    return outputs;
  }

 private:
  std::shared_ptr<Waiting> waiting_;
};

}  // namespace

void on_complete(const at::Tensor& loss, const at::Tensor& gradient, std::span<const wire::Bucket> buckets,
                 std::function<void(const wire::Bucket&)> complete) {
  std::vector<std::shared_ptr<Waiting>> all;
  for (const wire::Bucket& bucket : buckets) all.push_back(std::make_shared<Waiting>(Waiting{bucket, 0, complete}));
  for (AccumulateGrad* accumulator : accumulators_of(loss)) {
    const auto offset =
        static_cast<std::size_t>(accumulator->variable.grad().data_ptr<float>() - gradient.data_ptr<float>());
    const auto found = std::find_if(all.begin(), all.end(), [offset](const auto& waiting) {
      return waiting->bucket.begin <= offset && offset < waiting->bucket.begin + waiting->bucket.count;
    });
    VERIFY(found != all.end());
    ++(*found)->tensors;
    accumulator->add_post_hook(std::make_unique<Hook>(*found));
  }
}

}  // namespace starling::training
