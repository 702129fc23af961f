// The volunteer in the project: the name, what was credited, and the way out; and which projects share this computer.
#pragma once

#include <QWidget>

#include "gui/models/daemon_model.h"

class QLabel;

namespace starling::widgets {

class TeamBox;

class AccountPage : public QWidget {
  Q_OBJECT

 public:
  explicit AccountPage(models::DaemonModel& daemon, QWidget* parent = nullptr);

  // Asks first.
  void leave();

 signals:
  void joinWanted();

 protected:
  void showEvent(QShowEvent* event) override;

 private:
  void showStatus();
  void fetchProjects();
  void showProjects(const std::vector<wire::ProjectView>& projects);

  models::DaemonModel& daemon_;
  QLabel* project_;
  QLabel* name_;
  QLabel* run_;
  QLabel* credit_;
  QLabel* computer_;
  QLabel* projects_;
  TeamBox* team_;
  std::string listed_;  // whose turn it was when the projects were asked for
};

}  // namespace starling::widgets
