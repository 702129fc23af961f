#include "gui/widgets/table.h"

#include <QHeaderView>
#include <QSortFilterProxyModel>

namespace starling::widgets {

QTableView* makeTable(models::RowsModel* rows, const QString& name, TableOptions options) {
  auto* view = new QTableView();
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
  return view;
}

}  // namespace starling::widgets
