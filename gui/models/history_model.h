// What this computer has done over time, fetched anew while rounds are finished.
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

  // Oldest first; empty before it has come.
  [[nodiscard]] const std::vector<wire::HistoryPoint>& points(wire::HistorySpan span) const;
  void fetch(wire::HistorySpan span);

  struct Sum {
    SampleCount samples = 0;
    double credit = 0;
    std::int64_t rounds = 0;
  };
  // Since local midnight.
  [[nodiscard]] Sum today() const;

 signals:
  void arrived(starling::wire::HistorySpan span);

 private:
  void follow();

  DaemonModel& daemon_;
  QTimer pace_;  // one fetch a second is enough
  std::array<std::vector<wire::HistoryPoint>, wire::kHistorySpans> spans_;
  std::int64_t rounds_seen_ = -1;
  std::string project_seen_;
};

// Those with a loss: of a round to which nobody brought samples there is none.
std::vector<wire::HistoryPoint> withLoss(const std::vector<wire::HistoryPoint>& points);

// The sum of the points that begin at `from` or later; credit is what it grew by.
HistoryModel::Sum sumSince(const std::vector<wire::HistoryPoint>& points, WallTime from);

}  // namespace starling::models
