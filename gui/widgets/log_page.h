// The daemon's log: filtered by level, searched, copied.
#pragma once

#include <QTimer>
#include <QWidget>
#include <string>

#include "gui/models/daemon_model.h"
#include "gui/models/log_lines.h"
#include "gui/models/rows_model.h"

class QComboBox;
class QLineEdit;
class QTableView;

namespace starling::widgets {

class LogPage : public QWidget {
  Q_OBJECT

 public:
  explicit LogPage(models::DaemonModel& daemon, QWidget* parent = nullptr);

 protected:
  void showEvent(QShowEvent* event) override;
  void hideEvent(QHideEvent* event) override;

 private:
  void fetch();
  void filter();
  void copy();

  models::DaemonModel& daemon_;
  models::RowsModel* rows_;
  QComboBox* level_;
  QLineEdit* search_;
  QTableView* table_;
  QTimer refresh_;
  std::string fetched_;
  QList<models::LogLine> lines_;
};

}  // namespace starling::widgets
