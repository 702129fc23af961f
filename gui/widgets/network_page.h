// Whether other computers can reach this one, and advice if not; the line's traffic, compared with the caps.
#pragma once

#include <QWidget>

#include "gui/models/daemon_model.h"

class QLabel;
class QProgressBar;

namespace starling::widgets {

class FigureGrid;

class NetworkPage : public QWidget {
  Q_OBJECT

 public:
  explicit NetworkPage(models::DaemonModel& daemon, QWidget* parent = nullptr);

 signals:
  void preferencesWanted();

 protected:
  void showEvent(QShowEvent* event) override;

 private:
  void showStatus();

  models::DaemonModel& daemon_;
  QLabel* verdict_;
  QLabel* advice_;
  QLabel* month_;
  QProgressBar* cap_;
  FigureGrid* kinds_;
  QLabel* limits_;
  FigureGrid* figures_;
};

}  // namespace starling::widgets
