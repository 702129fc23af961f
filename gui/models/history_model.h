// The history of this computer, fetched again as rounds are finished.
#pragma once

#include <QObject>
#include <QTimer>
#include <array>
#include <vector>

#include "gui/models/daemon_model.h"

namespace starling::models {

class HistoryModel : public QObject {
  Q_OBJECT

 public:
  explicit HistoryModel(DaemonModel& daemon, QObject* parent = nullptr);

  // Oldest first; empty until it has arrived.
  [[nodiscard]] const std::vector<wire::HistoryPoint>& points(wire::HistorySpan span) const;
  void fetch(wire::HistorySpan span);

  struct Sum {
    SampleCount samples = 0;
    double credit = 0;
    std::int64_t rounds = 0;
  };
  // The sum since local midnight.
  [[nodiscard]] Sum today() const;

 signals:
  void arrived(starling::wire::HistorySpan span);

 private:
  void follow();

  DaemonModel& daemon_;
  QTimer pace_;  // limits fetches to one a second
  std::array<std::vector<wire::HistoryPoint>, wire::kHistorySpans> spans_;
  std::int64_t rounds_seen_ = -1;
  std::string project_seen_;
};

// The points that have a loss: a round to which nobody brought samples has none.
std::vector<wire::HistoryPoint> withLoss(const std::vector<wire::HistoryPoint>& points);

// The sum of the points that begin at `from` or later; its credit is the growth over them.
HistoryModel::Sum sumSince(const std::vector<wire::HistoryPoint>& points, WallTime from);

}  // namespace starling::models
