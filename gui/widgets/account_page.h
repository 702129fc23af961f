// The volunteer in the project: the name, the credit, and how to leave; and the projects that share this computer.
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

  // Asks for confirmation first.
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
  std::string listed_;  // the project whose turn it was when the projects were fetched
};

}  // namespace starling::widgets
