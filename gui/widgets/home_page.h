// The first page: the present state and its reason, the one action for it, and its results.
#pragma once

#include <QWidget>

#include "gui/models/daemon_model.h"
#include "gui/models/history_model.h"

class QAction;
class QLabel;
class QPushButton;

namespace starling::widgets {

class FigureGrid;
class Plot;

class HomePage : public QWidget {
  Q_OBJECT

 public:
  HomePage(models::DaemonModel& daemon, models::HistoryModel& history, QWidget* parent = nullptr);

 signals:
  // A remedy of the situation that the daemon cannot carry out.
  void wanted(starling::models::Remedy remedy);
  void selfTestWanted();

 protected:
  void changeEvent(QEvent* event) override;

 private:
  QWidget* makeSituationBox();
  void showStatus();
  void showSituation(const models::Situation& situation);
  void showHistory();
  void act();

  models::DaemonModel& daemon_;
  models::HistoryModel& history_;
  models::Situation situation_;
  QLabel* icon_;
  QLabel* headline_;
  QLabel* detail_;
  QLabel* problems_;
  QPushButton* self_test_;
  QPushButton* action_;
  QPushButton* pause_;
  QPushButton* snooze_;
  QAction* after_round_;
  FigureGrid* figures_;
  Plot* loss_;
};

}  // namespace starling::widgets
