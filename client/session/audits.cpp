#include "client/session/audits.h"

#include <algorithm>
#include <utility>

namespace starling::session {
namespace {

constexpr Duration kPatience = std::chrono::seconds(15);  // with idle moments
constexpr int kFailuresMax = 3;
constexpr Duration kAfterFailure = std::chrono::seconds(10);
constexpr std::string_view kNotKept = "the state is not kept here";

bool has_order(const std::vector<wire::AuditOrder>& orders, std::int64_t number) {
  return std::any_of(orders.begin(), orders.end(), [&](const wire::AuditOrder& one) { return one.number == number; });
}

}  // namespace

void Audits::on_reply(TimePoint now, const wire::AuditsDue& due) {
  wanted_ = {due.keep_states.begin(), due.keep_states.end()};
  request_ = due.sketches;
  if (!request_ || (own_ && own_->round != request_->round)) own_.reset();
  if (due.checked) checked_ = due.checked;
  std::erase_if(results_, [&](const wire::AuditResult& result) { return !has_order(due.orders, result.number); });
  for (Work& work : work_) work.is_over = work.is_over || !has_order(due.orders, work.order.number);
  std::erase_if(work_, [](const Work& work) { return work.is_over && work.piece == 0; });
  for (const wire::AuditOrder& order : due.orders) {
    const auto same = [&](const auto& known) { return known.number == order.number; };
    const bool answered = std::any_of(results_.begin(), results_.end(), same);
    const bool known =
        std::any_of(work_.begin(), work_.end(), [&](const Work& work) { return !work.is_over && same(work.order); });
    if (answered || known) continue;
    if (order.samples.empty() || order.parts.empty()) {
      results_.push_back({order.number, {}, "the order names nothing to compute"});
      continue;
    }
    work_.push_back({order, now, 0, 0, 0, std::vector<double>(order.parts.size() * wire::kSketchFloats, 0.0)});
  }
}

std::vector<RoundIndex> Audits::forget_unwanted() {
  std::vector<RoundIndex> unwanted;
  for (const RoundIndex round : kept_) {
    if (!wanted_.contains(round)) unwanted.push_back(round);
  }
  for (const RoundIndex round : unwanted) kept_.erase(round);
  return unwanted;
}

void Audits::refuse_unkept(RoundIndex round) {
  const auto cannot = [&](const Work& work) {
    return work.piece == 0 && work.order.round < round && !is_possible(work);
  };
  for (const Work& work : work_) {
    if (cannot(work)) results_.push_back({work.order.number, {}, std::string(kNotKept)});
  }
  std::erase_if(work_, cannot);
}

std::optional<Audits::Piece> Audits::begin_piece(TimePoint now, SampleCount count) {
  if (work_.empty() || !is_possible(work_.front()) || now < not_before_) return std::nullopt;
  Work& work = work_.front();
  wire::SampleRange samples = work.order.samples[work.range];
  samples.first += work.done;
  samples.count = std::min(count, samples.count - work.done);
  work.piece = samples.count;
  pace_.began = now;
  return Piece{work.order.round, work.order.state_digest, samples, work.order.parts};
}

void Audits::on_piece(TimePoint now, const Result<std::vector<double>>& sketches, bool paused) {
  pace_.ended = now;
  if (work_.empty()) return;
  Work& work = work_.front();
  const SampleCount piece = std::exchange(work.piece, 0);
  if (work.is_over) return work_.pop_front();
  if (!sketches.ok()) {
    if (paused) return;
    not_before_ = now + kAfterFailure;
    if (sketches.error().code == ErrorCode::unavailable && ++work.failures < kFailuresMax) return;
    results_.push_back({work.order.number, {}, sketches.error().message.substr(0, wire::kAuditReasonBytesMax)});
    work_.pop_front();
    return;
  }
  for (std::size_t i = 0; i < work.sums.size(); ++i) work.sums[i] += (*sketches)[i];
  work.done += piece;
  if (work.done < work.order.samples[work.range].count) return;
  work.done = 0;
  if (++work.range < work.order.samples.size()) return;
  results_.push_back({work.order.number, std::vector<float>(work.sums.begin(), work.sums.end()), {}});
  work_.pop_front();
}

bool Audits::is_overdue(TimePoint now) const {
  const bool waits = !work_.empty() && is_possible(work_.front()) && now >= work_.front().since + kPatience;
  return waits && now >= std::max(not_before_, pace_.ended + pace_.took());
}

wire::AuditAnswers Audits::tell() const {
  wire::AuditAnswers answers;
  answers.own = own_;
  answers.results = results_;
  return answers;
}

}  // namespace starling::session
