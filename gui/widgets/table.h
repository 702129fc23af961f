// A table of a RowsModel: whole rows, no grid, one column that takes the remaining width.
#pragma once

#include <QTableView>

#include "gui/models/rows_model.h"

class QSortFilterProxyModel;

namespace starling::widgets {

struct TableOptions {
  bool sorting = false;   // by a click on a header; otherwise rows keep the model's order
  int wide_column = 0;    // takes the remaining width
  int wide_min = 150;     // its minimum width in pixels
  QList<int> spare = {};  // columns that a narrow window hides, in this order
};

// `name` is read by screen readers.
QTableView* makeTable(models::RowsModel* rows, const QString& name, const TableOptions& options);

}  // namespace starling::widgets
