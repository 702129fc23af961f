#include "gui/widgets/table.h"

#include <QHeaderView>
#include <QSortFilterProxyModel>
#include <algorithm>

namespace starling::widgets {
namespace {

class Table : public QTableView {
 public:
  explicit Table(TableOptions options) : options_(std::move(options)) {}

  // Shows as many columns as fit.
  void fit() {
    int needed = 0;
    for (int column = 0; column < model()->columnCount(); ++column) {
      setColumnHidden(column, false);
      needed += widthOf(column);
    }
    for (const int column : options_.spare) {
      if (needed <= viewport()->width()) return;
      needed -= widthOf(column);
      setColumnHidden(column, true);
    }
  }

 protected:
  void resizeEvent(QResizeEvent* event) override {
    QTableView::resizeEvent(event);
    fit();
  }

 private:
  [[nodiscard]] int widthOf(int column) const {
    const int wanted = std::max(sizeHintForColumn(column), horizontalHeader()->sectionSizeHint(column));
    return column == options_.wide_column ? std::min(wanted, options_.wide_min) : wanted;
  }

  const TableOptions options_;
};

}  // namespace

QTableView* makeTable(models::RowsModel* rows, const QString& name, const TableOptions& options) {
  auto* view = new Table(options);
  auto* proxy = new QSortFilterProxyModel(view);
  proxy->setSourceModel(rows);
  proxy->setSortRole(models::RowsModel::kSortRole);
  view->setModel(proxy);
  view->setSortingEnabled(options.sorting);
  if (options.sorting) view->sortByColumn(-1, Qt::AscendingOrder);
  view->setAccessibleName(name);
  view->setSelectionBehavior(QAbstractItemView::SelectRows);
  view->setEditTriggers(QAbstractItemView::NoEditTriggers);
  view->setShowGrid(false);
  view->setAlternatingRowColors(true);
  view->setWordWrap(false);
  view->setTabKeyNavigation(false);
  view->verticalHeader()->hide();
  view->horizontalHeader()->setSectionResizeMode(QHeaderView::ResizeToContents);
  view->horizontalHeader()->setSectionResizeMode(options.wide_column, QHeaderView::Stretch);
  view->horizontalHeader()->setHighlightSections(false);
  QObject::connect(rows, &models::RowsModel::modelReset, view, &Table::fit, Qt::QueuedConnection);
  QObject::connect(rows, &models::RowsModel::dataChanged, view, &Table::fit, Qt::QueuedConnection);
  return view;
}

}  // namespace starling::widgets
