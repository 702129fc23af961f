#include "client/daemon/trainer_work.h"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "client/daemon/trainer_status.h"
#include "client/session/byte_tokens.h"
#include "client/session/token_draw.h"

namespace starling::daemon {
namespace {

using rounds::BatchOrder;

// True if any of it must be given back.
bool is_less(const trainer_link::TrainerShare& now, const trainer_link::TrainerShare& before) {
  const auto memory = [](const trainer_link::TrainerShare& share) {
    return share.memory_bytes == 0 ? UINT64_MAX : share.memory_bytes;
  };
  return now.threads < before.threads || memory(now) < memory(before) ||
         now.gpu_memory_percent < before.gpu_memory_percent;
}

// For any other model the trainer says why it writes no text.
bool writes_tokens(const wire::RunManifest& manifest) {
  return wire::writes_text(manifest.model) && manifest.data.kind == wire::DataKind::tokens;
}

}  // namespace

TrainerWork::TrainerWork(RunThreads& threads, TrainerParts parts, const wire::RunManifest& manifest)
    : threads_(threads), parts_(std::move(parts)), manifest_(manifest) {}

void TrainerWork::obey(const Permission& permission) {
  bool took_something = false;
  {
    const MutexLock lock(mutex_);
    const auto before = share_;
    if (permission.train) {
      share_ = permission.share;
    } else {
      share_.reset();
    }
    took_something = !share_ || (before && is_less(*share_, *before));
  }
  card_ = permission.card;
  if (took_something) parts_.process->stop();
  if (parts_.shards == nullptr) return;
  parts_.shards->allow(permission.train && permission.coordinator);
  parts_.shards->set_disk_bytes_left(permission.disk_bytes_left);
}

void TrainerWork::rest(bool paused) {
  if (paused && !resting_) {
    threads_.on_trainer([this] {
      parts_.process->stop();
      parts_.process->end_audits();
    });
  }
  resting_ = paused;
}

void TrainerWork::describe(wire::ComputingStatus& computing) const {
  describe_trainer(parts_.process->view(), card_, computing);
}

std::optional<wire::ComputeDevice> TrainerWork::device_for_others() const {
  return daemon::device_for_others(parts_.process->view(), card_);
}

void TrainerWork::on_data(std::function<void()> arrived) {
  if (parts_.shards != nullptr) parts_.shards->on_arrival(std::move(arrived));
}

void TrainerWork::stop() {
  if (parts_.shards != nullptr) parts_.shards->allow(false);
  parts_.process->stop();
}

void TrainerWork::close() {
  parts_.process.reset();
  parts_.shards.reset();
}

std::optional<trainer_link::TrainerShare> TrainerWork::allowed_share() const {
  const MutexLock lock(mutex_);
  return share_;
}

bool TrainerWork::take_share() {
  const auto share = allowed_share();
  if (share) parts_.process->set_share(*share);
  return share.has_value();
}

Result<session::BatchReport> TrainerWork::train(const BatchOrder& order, const wire::SampleRange& samples) {
  trainer_link::TrainerProcess& trainer = *parts_.process;
  if (order.clears) std::fill(order.into.begin(), order.into.end(), 0.0F);
  if (order.begin == BatchOrder::Begin::at_agreed) trainer.begin_sum();
  if (order.begin == BatchOrder::Begin::ahead) {
    trainer.begin_sum_ahead(samples.round - 1, order.own_sum, order.own_samples);
  }
  while (true) {
    const auto share = allowed_share();
    if (!share) return Error{ErrorCode::unavailable, "training is paused"};
    trainer.set_share(*share);
    auto report =
        instead_.train_batch ? instead_.train_batch(samples, order.into) : trainer.train_batch(samples, order.into);
    if (report.ok() || allowed_share() == share) return report;
  }
}

Result<session::Evaluation> TrainerWork::evaluate() {
  if (!take_share()) return Error{ErrorCode::unavailable, "training is paused"};
  return instead_.evaluate ? instead_.evaluate() : parts_.process->evaluate();
}

Result<std::vector<double>> TrainerWork::audit(const wire::SampleRange& samples,
                                               std::span<const wire::SketchedPart> parts,
                                               std::span<const float> parameters) {
  if (!take_share()) return Error{ErrorCode::unavailable, "training is paused"};
  std::vector<double> sketches(parts.size() * wire::kSketchFloats);
  STARLING_TRY(parts_.process->audit_batch(samples, parts, parameters, sketches));
  return sketches;
}

struct TrainerWork::Continuation {
  std::vector<int> tokens;  // the prompt, and what was added
  std::size_t prompt = 0;   // tokens of the prompt
  std::size_t length = 0;   // tokens in the end
  double temperature = 0;
  session::TokenDraw draw;
  std::function<void(Result<std::string>)> done;
};

void TrainerWork::sample_text(const std::string& prompt, int count, double temperature,
                              std::function<void(Result<std::string>)> done) {
  const auto sample = [this, prompt, count, temperature, done] {
    if (!take_share()) return done(Error{ErrorCode::unavailable, "training was paused meanwhile"});
    Result<std::vector<int>> tokens = tokens_of(prompt);
    if (!tokens.ok()) return done(tokens.error());
    const std::size_t known = tokens->size();
    if (instead_.score_next) {
      const auto length = known + static_cast<std::size_t>(count);
      return go_on(std::make_shared<Continuation>(
          Continuation{std::move(*tokens), known, length, temperature, session::TokenDraw(manifest_), done}));
    }
    const Result<std::vector<int>> more = parts_.process->sample_tokens(*tokens, count, temperature);
    if (!more.ok()) return done(more.error());
    tokens->insert(tokens->end(), more->begin(), more->end());
    done(text_of(*tokens, known));
  };
  threads_.on_trainer(sample, [done] { done(Error{ErrorCode::unavailable, "the run was stopped"}); });
}

void TrainerWork::go_on(const std::shared_ptr<Continuation>& text) {
  if (text->tokens.size() == text->length) return text->done(text_of(text->tokens, text->prompt));
  const std::vector<int> first{session::token_before_text(manifest_)};
  const Result<std::vector<float>> scores = instead_.score_next(text->tokens.empty() ? first : text->tokens);
  if (!scores.ok()) return text->done(scores.error().prefixed("sample text"));
  text->tokens.push_back(text->draw.draw(*scores, text->temperature));
  const auto next = [this, text] {
    if (take_share()) return go_on(text);
    text->done(Error{ErrorCode::unavailable, "training was paused meanwhile"});
  };
  threads_.on_trainer(next, [text] { text->done(Error{ErrorCode::unavailable, "the run was stopped"}); });
}

Result<std::vector<int>> TrainerWork::tokens_of(const std::string& prompt) const {
  if (!writes_tokens(manifest_)) return session::tokens_of_bytes(prompt);
  if (parts_.tokenizer) return parts_.tokenizer->tokens_of(prompt);
  return Error{ErrorCode::unsupported,
               "sample text: this run publishes no tokenizer, so nobody here knows what its tokens say; its operator "
               "can make another run of text that `starling-coordinator data prepare` prepares now"};
}

Result<std::string> TrainerWork::text_of(std::span<const int> tokens, std::size_t first) const {
  if (writes_tokens(manifest_)) return parts_.tokenizer->text_of(tokens, first);
  return session::bytes_of_tokens(tokens.subspan(first));
}

}  // namespace starling::daemon
