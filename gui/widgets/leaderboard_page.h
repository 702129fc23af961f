// The ranking of the project's volunteers, with the own row always in sight.
#pragma once

#include <QTimer>
#include <QWidget>

#include "gui/models/daemon_model.h"
#include "gui/models/rows_model.h"

class QComboBox;
class QLabel;
class QLineEdit;
class QPushButton;

namespace starling::widgets {

class LeaderboardPage : public QWidget {
  Q_OBJECT

 public:
  explicit LeaderboardPage(models::DaemonModel& daemon, QWidget* parent = nullptr);

 protected:
  void showEvent(QShowEvent* event) override;
  void hideEvent(QHideEvent* event) override;

 private:
  QWidget* makeChoice();
  void turn(int pages);
  void fetch();
  void show(const link::Reply& reply);

  models::DaemonModel& daemon_;
  models::RowsModel* rows_;
  QComboBox* sort_;
  QLineEdit* search_;
  QLabel* own_;
  QLabel* place_;
  QPushButton* previous_;
  QPushButton* next_;
  QTimer refresh_;
  int page_ = 1;
};

}  // namespace starling::widgets
