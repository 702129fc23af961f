// The volunteer's team: its standing, and controls to join, found or leave one.
#pragma once

#include <QWidget>

#include "gui/models/daemon_model.h"

class QLabel;
class QLineEdit;
class QPushButton;

namespace starling::widgets {

class TeamBox : public QWidget {
  Q_OBJECT

 public:
  explicit TeamBox(models::DaemonModel& daemon, QWidget* parent = nullptr);

  // Asks the coordinator at that address, host:port.
  void show(const QString& address);

 private:
  void ask(const char* what);
  void take(const wire::TeamReply& team);

  models::DaemonModel& daemon_;
  QString address_;
  QLabel* team_;
  QLabel* refusal_;
  QLineEdit* name_;
  QPushButton* join_;
  QPushButton* found_;
  QPushButton* leave_;
  QWidget* choice_;
};

}  // namespace starling::widgets
