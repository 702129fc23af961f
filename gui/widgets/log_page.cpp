#include "gui/widgets/log_page.h"

#include <QApplication>
#include <QClipboard>
#include <QComboBox>
#include <QHBoxLayout>
#include <QItemSelectionModel>
#include <QLineEdit>
#include <QPushButton>
#include <QScrollBar>
#include <QTableView>
#include <QVBoxLayout>

#include "gui/widgets/table.h"

namespace starling::widgets {
namespace {

constexpr int kLines = 1000;
constexpr std::chrono::seconds kRefresh{2};
constexpr int kColumns = 3;

}  // namespace

LogPage::LogPage(models::DaemonModel& daemon, QWidget* parent)
    : QWidget(parent),
      daemon_(daemon),
      rows_(new models::RowsModel({tr("Time"), tr("Level"), tr("What happened")}, this)),
      level_(new QComboBox()),
      search_(new QLineEdit()),
      table_(makeTable(rows_, tr("Log"), {.wide_column = kColumns - 1, .wide_min = 230, .spare = {1, 0}})) {
  level_->addItems({tr("Everything"), tr("Warnings and errors"), tr("Errors")});
  level_->setAccessibleName(tr("Level"));
  level_->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
  search_->setPlaceholderText(tr("Search the log"));
  search_->setAccessibleName(tr("Search the log"));
  search_->setClearButtonEnabled(true);
  auto* copy_button = new QPushButton(tr("Copy"));
  copy_button->setToolTip(tr("The selected lines, or all that are shown"));
  table_->setSelectionMode(QAbstractItemView::ExtendedSelection);
  auto* choice = new QHBoxLayout();
  choice->addWidget(level_, 1);
  choice->addWidget(search_, 1);
  choice->addWidget(copy_button);
  auto* layout = new QVBoxLayout(this);
  layout->addLayout(choice);
  layout->addWidget(table_, 1);
  connect(level_, &QComboBox::currentIndexChanged, this, &LogPage::filter);
  connect(search_, &QLineEdit::textChanged, this, &LogPage::filter);
  connect(copy_button, &QPushButton::clicked, this, &LogPage::copy);
  connect(&refresh_, &QTimer::timeout, this, &LogPage::fetch);
}

void LogPage::showEvent(QShowEvent* event) {
  QWidget::showEvent(event);
  refresh_.start(kRefresh);
  fetch();
}

void LogPage::hideEvent(QHideEvent* event) {
  QWidget::hideEvent(event);
  refresh_.stop();
}

void LogPage::fetch() {
  daemon_.ask(wire::GetLog{kLines}, this, [this](const link::Reply& reply) {
    if (!reply.ok() || reply->text == fetched_) return;
    fetched_ = reply->text;
    lines_ = models::parseLog(fetched_);
    filter();
  });
}

void LogPage::filter() {
  const bool follows = table_->verticalScrollBar()->value() == table_->verticalScrollBar()->maximum();
  QList<models::RowsModel::Row> rows;
  for (const models::LogLine& line : lines_) {
    if (static_cast<int>(line.level) < level_->currentIndex()) continue;
    if (!line.words.contains(search_->text(), Qt::CaseInsensitive)) continue;
    rows.append({line.time, models::levelName(line.level), line.words});
  }
  rows_->setRows(std::move(rows));
  if (follows) table_->scrollToBottom();
}

void LogPage::copy() {
  const QAbstractItemModel& shown = *table_->model();
  const QItemSelectionModel& selection = *table_->selectionModel();
  QStringList lines;
  for (int row = 0; row < shown.rowCount(); ++row) {
    if (selection.hasSelection() && !selection.isRowSelected(row)) continue;
    QStringList cells;
    for (int column = 0; column < kColumns; ++column) cells.append(shown.index(row, column).data().toString());
    lines.append(cells.join(QLatin1Char(' ')));
  }
  QApplication::clipboard()->setText(lines.join(QLatin1Char('\n')));
}

}  // namespace starling::widgets
