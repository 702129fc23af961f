#include "gui/models/history_model.h"

#include <QDateTime>
#include <algorithm>
#include <iterator>
#include <utility>

namespace starling::models {
namespace {

using wire::HistoryPoint;
using wire::HistorySpan;

}  // namespace

HistoryModel::HistoryModel(DaemonModel& daemon, QObject* parent) : QObject(parent), daemon_(daemon) {
  pace_.setSingleShot(true);
  pace_.setInterval(1000);
  connect(&pace_, &QTimer::timeout, this, &HistoryModel::follow);
  connect(&daemon_, &DaemonModel::changed, this, &HistoryModel::follow);
}

void HistoryModel::follow() {
  if (pace_.isActive() || !daemon_.connected()) return;
  const wire::DaemonStatus& status = daemon_.status();
  const std::int64_t rounds = status.training.rounds_done + status.training.rounds_failed;
  if (rounds == rounds_seen_ && status.membership.project == project_seen_) return;
  rounds_seen_ = rounds;
  project_seen_ = status.membership.project;
  pace_.start();
  fetch(HistorySpan::rounds);
  fetch(HistorySpan::day);
}

void HistoryModel::fetch(HistorySpan span) {
  daemon_.ask(wire::GetHistory{std::string(wire::to_string(span))}, this, [this, span](const link::Reply& reply) {
    if (!reply.ok() || !reply->history.has_value()) return;
    spans_[static_cast<std::size_t>(span)] = *reply->history;
    emit arrived(span);
  });
}

const std::vector<HistoryPoint>& HistoryModel::points(HistorySpan span) const {
  return spans_[static_cast<std::size_t>(span)];
}

HistoryModel::Sum HistoryModel::today() const {
  const QDateTime midnight = QDate::currentDate().startOfDay();
  return sumSince(points(HistorySpan::day), {midnight.toMSecsSinceEpoch()});
}

std::vector<HistoryPoint> withLoss(const std::vector<HistoryPoint>& points) {
  std::vector<HistoryPoint> found;
  std::copy_if(points.begin(), points.end(), std::back_inserter(found),
               [](const HistoryPoint& point) { return point.loss > 0; });
  return found;
}

HistoryModel::Sum sumSince(const std::vector<HistoryPoint>& points, WallTime from) {
  HistoryModel::Sum sum;
  double before = 0;
  double last = 0;
  for (const HistoryPoint& point : points) {
    if (point.begin < from) {
      before = point.credit;
      continue;
    }
    sum.samples += point.samples;
    sum.rounds += point.rounds;
    last = point.credit;
  }
  sum.credit = std::max(0.0, last - before);
  return sum;
}

}  // namespace starling::models
