// The hours of a week in which something is allowed, painted with the mouse or the keyboard: arrows move, space
// switches an hour.
#pragma once

#include <QWidget>

#include "shared/control/week_hours.h"

namespace starling::widgets {

class WeekGrid : public QWidget {
  Q_OBJECT

 public:
  explicit WeekGrid(QWidget* parent = nullptr);

  [[nodiscard]] const wire::WeekHours& hours() const { return hours_; }
  void setHours(const wire::WeekHours& hours);
  [[nodiscard]] QSize sizeHint() const override;

 signals:
  // Emitted once for each stroke of the mouse.
  void edited();

 protected:
  void paintEvent(QPaintEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void mouseReleaseEvent(QMouseEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;

 private:
  [[nodiscard]] QRectF cell(int hour) const;
  [[nodiscard]] int hourAt(QPointF place) const;  // -1: none
  void describe();

  wire::WeekHours hours_;
  int cursor_ = 0;
  bool painting_ = false;
  bool painted_value_ = true;
};

}  // namespace starling::widgets
