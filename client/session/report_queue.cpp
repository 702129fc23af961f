#include "client/session/report_queue.h"

#include <algorithm>
#include <utility>

#include "shared/protocol/limits.h"

namespace starling::session {
namespace {

constexpr std::size_t kReportsKeptMax = 4096;            // rounds without a coordinator before old reports are dropped
constexpr std::size_t kReportMembersPerHeartbeat = 256;  // keeps a heartbeat within wire::kJsonBytesMax

}  // namespace

void ReportQueue::add(wire::RoundReport report) {
  reports_.push_back(std::move(report));
  if (reports_.size() > kReportsKeptMax) reports_.pop_front();
}

void ReportQueue::settle(RoundIndex below) {
  while (!reports_.empty() && reports_.front().round < below) reports_.pop_front();
}

std::size_t ReportQueue::drop(RoundIndex from) {
  told_below_ = std::min(told_below_, from);
  return std::erase_if(reports_, [from](const wire::RoundReport& report) { return report.round >= from; });
}

RoundIndex ReportQueue::sure_below(const StateName& swarm) const {
  if (reports_.empty() || reports_.front().round >= swarm.round) return swarm.round;
  const bool led_there = std::ranges::any_of(reports_, [&swarm](const wire::RoundReport& report) {
    return report.round + 1 == swarm.round && report.state_digest == swarm.digest;
  });
  return led_there ? swarm.round : reports_.front().round;
}

std::optional<RoundIndex> ReportQueue::first_apart(
    const std::function<std::optional<Digest>(RoundIndex round)>& result_of) const {
  for (const wire::RoundReport& report : reports_) {
    const std::optional<Digest> swarm = result_of(report.round);
    if (swarm && *swarm != report.state_digest) return report.round;
  }
  return std::nullopt;
}

std::vector<wire::RoundReport> ReportQueue::tell() {
  std::vector<wire::RoundReport> next;
  std::size_t members = 0;
  told_below_ = 0;
  for (const wire::RoundReport& report : reports_) {
    members += report.members.size();
    const bool full = next.size() == wire::kReportsPerHeartbeatMax || members > kReportMembersPerHeartbeat;
    if (full && !next.empty()) break;
    next.push_back(report);
    told_below_ = report.round + 1;
  }
  return next;
}

void ReportQueue::add_trouble(wire::RoundTrouble trouble) {
  troubles_.push_back(std::move(trouble));
  if (troubles_.size() <= wire::kTroublesPerHeartbeatMax) return;
  troubles_.pop_front();
  if (told_troubles_ > 0) --told_troubles_;
}

std::vector<wire::RoundTrouble> ReportQueue::tell_troubles() {
  told_troubles_ = troubles_.size();
  return {troubles_.begin(), troubles_.end()};
}

void ReportQueue::on_heard() {
  for (wire::RoundReport& report : reports_) {
    if (report.round < told_below_) report.measured.reset();
  }
  told_below_ = 0;
  troubles_.erase(troubles_.begin(), troubles_.begin() + static_cast<std::ptrdiff_t>(std::exchange(told_troubles_, 0)));
}

void Evaluations::ask(RoundIndex round) {
  if (last_ && last_->round == round) {
    waiting_ = last_;
  } else {
    wanted_ = round;
  }
}

void Evaluations::on_measured(RoundIndex round, const std::optional<Evaluation>& measured) {
  wanted_.reset();
  told_ = false;
  last_ = wire::EvaluationReport{round};
  if (measured) last_ = last_measured_ = {round, measured->bits_per_byte, measured->bytes, measured->accuracy};
  waiting_ = last_;
}

std::optional<wire::EvaluationReport> Evaluations::tell() {
  told_ = waiting_.has_value();
  return waiting_;
}

void Evaluations::on_heard() {
  if (std::exchange(told_, false)) waiting_.reset();
}

}  // namespace starling::session
