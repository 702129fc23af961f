#include "gui/widgets/week_grid.h"

#include <QKeyEvent>
#include <QLocale>
#include <QMouseEvent>
#include <QPainter>

namespace starling::widgets {
namespace {

constexpr int kDays = 7;
constexpr int kCellHeight = 18;
constexpr int kCellWidth = 18;
constexpr int kLabelHeight = 18;
constexpr int kLabelWidth = 34;
constexpr int kLabelEvery = 6;  // hours

}  // namespace

WeekGrid::WeekGrid(QWidget* parent) : QWidget(parent) {
  setFocusPolicy(Qt::StrongFocus);
  setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Fixed);
  setMinimumWidth(kLabelWidth + wire::kDayHours * kCellWidth / 2);
  setToolTip(tr("Drag to switch hours; with the keyboard, arrows move and space switches"));
}

void WeekGrid::setHours(const wire::WeekHours& hours) {
  if (painting_ || hours == hours_) return;
  hours_ = hours;
  describe();
  update();
}

QSize WeekGrid::sizeHint() const {
  return {kLabelWidth + wire::kDayHours * kCellWidth, kLabelHeight + kDays * kCellHeight};
}

QRectF WeekGrid::cell(int hour) const {
  const double width = static_cast<double>(this->width() - kLabelWidth) / wire::kDayHours;
  const int day = hour / wire::kDayHours;
  return {kLabelWidth + (hour % wire::kDayHours) * width, static_cast<double>(kLabelHeight + day * kCellHeight), width,
          kCellHeight};
}

int WeekGrid::hourAt(QPointF place) const {
  for (int hour = 0; hour < wire::kWeekHours; ++hour) {
    if (cell(hour).contains(place)) return hour;
  }
  return -1;
}

void WeekGrid::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  const QColor text = palette().color(isEnabled() ? QPalette::Active : QPalette::Disabled, QPalette::WindowText);
  QColor on = palette().color(isEnabled() ? QPalette::Active : QPalette::Disabled, QPalette::Highlight);
  QColor off = text;
  off.setAlphaF(0.10F);
  painter.setPen(text);
  for (int day = 0; day < kDays; ++day) {
    painter.drawText(QRectF(0, kLabelHeight + day * kCellHeight, kLabelWidth - 4, kCellHeight),
                     Qt::AlignRight | Qt::AlignVCenter, QLocale().dayName(day + 1, QLocale::ShortFormat));
  }
  for (int hour = 0; hour <= wire::kDayHours; hour += kLabelEvery) {
    const QRectF first = cell(hour % wire::kDayHours);
    const double x = hour == wire::kDayHours ? width() - 20 : first.left();
    painter.drawText(QRectF(x, 0, 24, kLabelHeight), Qt::AlignLeft | Qt::AlignVCenter, QString::number(hour));
  }
  for (int hour = 0; hour < wire::kWeekHours; ++hour) {
    const QRectF box = cell(hour).adjusted(0.5, 0.5, -1, -1);
    const bool allowed = hours_[static_cast<std::size_t>(hour)];
    painter.fillRect(box, allowed ? on : off);
    if (allowed) {  // shown by a sign as well as by colour
      painter.setPen(palette().color(QPalette::HighlightedText));
      painter.drawText(box, Qt::AlignCenter, QStringLiteral("·"));
    }
    if (hasFocus() && hour == cursor_) {
      painter.setPen(QPen(text, 2));
      painter.drawRect(box);
    }
  }
}

void WeekGrid::mousePressEvent(QMouseEvent* event) {
  const int hour = hourAt(event->position());
  if (hour < 0 || event->button() != Qt::LeftButton) return;
  painting_ = true;
  cursor_ = hour;
  painted_value_ = !hours_[static_cast<std::size_t>(hour)];
  mouseMoveEvent(event);
}

void WeekGrid::mouseMoveEvent(QMouseEvent* event) {
  const int hour = hourAt(event->position());
  if (!painting_ || hour < 0) return;
  hours_[static_cast<std::size_t>(hour)] = painted_value_;
  cursor_ = hour;
  update();
}

void WeekGrid::mouseReleaseEvent(QMouseEvent*) {
  if (!painting_) return;
  painting_ = false;
  describe();
  emit edited();
}

void WeekGrid::keyPressEvent(QKeyEvent* event) {
  int step = 0;
  if (event->key() == Qt::Key_Left) step = -1;
  if (event->key() == Qt::Key_Right) step = 1;
  if (event->key() == Qt::Key_Up) step = -wire::kDayHours;
  if (event->key() == Qt::Key_Down) step = wire::kDayHours;
  if (step != 0) {
    cursor_ = (cursor_ + step + wire::kWeekHours) % wire::kWeekHours;
  } else if (event->key() == Qt::Key_Space) {
    hours_.flip(static_cast<std::size_t>(cursor_));
    emit edited();
  } else {
    return QWidget::keyPressEvent(event);
  }
  describe();
  update();
}

void WeekGrid::describe() {
  const QString day = QLocale().dayName(cursor_ / wire::kDayHours + 1);
  const QString state = hours_[static_cast<std::size_t>(cursor_)] ? tr("allowed") : tr("not allowed");
  setAccessibleDescription(
      tr("%1, %2 o'clock: %3. In all: %4")
          .arg(day, QString::number(cursor_ % wire::kDayHours), state, QString::fromStdString(wire::to_text(hours_))));
}

}  // namespace starling::widgets
