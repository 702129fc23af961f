// The volunteer in the project: the name, what was credited, and the way out.
#pragma once

#include <QWidget>

#include "gui/models/daemon_model.h"

class QLabel;

namespace starling::widgets {

class AccountPage : public QWidget {
  Q_OBJECT

 public:
  explicit AccountPage(models::DaemonModel& daemon, QWidget* parent = nullptr);

 protected:
  void showEvent(QShowEvent* event) override;

 private:
  void showStatus();
  void leave();

  models::DaemonModel& daemon_;
  QLabel* project_;
  QLabel* name_;
  QLabel* run_;
  QLabel* credit_;
  QLabel* computer_;
};

}  // namespace starling::widgets
