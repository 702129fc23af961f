// Statistics of this computer over a day, a month, or all the time.
#pragma once

#include <QWidget>

#include "gui/models/history_model.h"

class QComboBox;
class QGridLayout;

namespace starling::widgets {

class FigureGrid;
class Plot;

class StatsPage : public QWidget {
  Q_OBJECT

 public:
  explicit StatsPage(models::HistoryModel& history, QWidget* parent = nullptr);

 protected:
  void showEvent(QShowEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;

 private:
  void choose();
  void showPoints(wire::HistorySpan span);
  [[nodiscard]] wire::HistorySpan span() const;

  models::HistoryModel& history_;
  QComboBox* spans_;
  FigureGrid* figures_;
  QGridLayout* plots_;
  Plot* samples_;
  Plot* credit_;
  Plot* loss_;
  Plot* traffic_;
  int columns_ = 0;
};

}  // namespace starling::widgets
