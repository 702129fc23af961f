// The run in which this computer takes part: the progress of the round, its groups, and everybody's samples.
#pragma once

#include <QWidget>

#include "gui/models/daemon_model.h"
#include "gui/models/history_model.h"
#include "gui/models/rows_model.h"

class QLabel;
class QProgressBar;

namespace starling::widgets {

class FigureGrid;
class Plot;

class RunPage : public QWidget {
  Q_OBJECT

 public:
  RunPage(models::DaemonModel& daemon, models::HistoryModel& history, QWidget* parent = nullptr);

 protected:
  void showEvent(QShowEvent* event) override;

 private:
  void showStatus();
  void showHistory();
  void fetchPeers();
  void showPeers(const wire::PeersView& peers);

  models::DaemonModel& daemon_;
  models::HistoryModel& history_;
  models::RowsModel* peers_;
  QLabel* phase_;
  QLabel* plan_;
  QLabel* device_;
  QProgressBar* round_;
  FigureGrid* figures_;
  Plot* contribution_;
  std::int64_t rounds_shown_ = -1;
};

}  // namespace starling::widgets
