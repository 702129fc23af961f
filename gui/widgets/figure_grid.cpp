#include "gui/widgets/figure_grid.h"

#include <QGridLayout>
#include <QLabel>
#include <QResizeEvent>
#include <QVBoxLayout>
#include <algorithm>

namespace starling::widgets {
namespace {

constexpr int kFigureWidth = 150;

}  // namespace

FigureGrid::FigureGrid(QWidget* parent) : QWidget(parent), grid_(new QGridLayout(this)) {
  grid_->setContentsMargins(0, 0, 0, 0);
  grid_->setHorizontalSpacing(16);
  grid_->setVerticalSpacing(10);
}

int FigureGrid::add(const QString& caption) {
  auto* box = new QWidget();
  auto* value = new QLabel(QStringLiteral("–"));
  QFont large = value->font();
  large.setPointSizeF(large.pointSizeF() * 1.5);
  value->setFont(large);
  value->setTextInteractionFlags(Qt::TextSelectableByMouse);
  auto* words = new QLabel(caption);
  words->setForegroundRole(QPalette::PlaceholderText);
  words->setWordWrap(true);
  auto* layout = new QVBoxLayout(box);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(0);
  layout->addWidget(value);
  layout->addWidget(words);
  figures_.push_back({box, value, caption});
  arrange(columns_ > 0 ? columns_ : 1);
  return static_cast<int>(figures_.size()) - 1;
}

void FigureGrid::set(int figure, const QString& value, const QString& hint) {
  const Figure& shown = figures_[static_cast<std::size_t>(figure)];
  shown.value->setText(value);
  shown.value->setAccessibleName(shown.caption + QStringLiteral(": ") + value);
  shown.box->setToolTip(hint);
}

void FigureGrid::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  const int columns = std::clamp(event->size().width() / kFigureWidth, 1, static_cast<int>(figures_.size()));
  if (columns != columns_) arrange(columns);
}

void FigureGrid::arrange(int columns) {
  columns_ = columns;
  for (int i = 0; i < static_cast<int>(figures_.size()); ++i) {
    grid_->addWidget(figures_[static_cast<std::size_t>(i)].box, i / columns, i % columns, Qt::AlignTop);
  }
  for (int column = 0; column < grid_->columnCount(); ++column)
    grid_->setColumnStretch(column, column < columns ? 1 : 0);
}

}  // namespace starling::widgets
