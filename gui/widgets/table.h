// A table of a RowsModel: whole rows, no grid, one column taking what is left.
#pragma once

#include <QTableView>

#include "gui/models/rows_model.h"

class QSortFilterProxyModel;

namespace starling::widgets {

struct TableOptions {
  bool sorting = false;   // by a click on a header; without it, rows keep the model's order
  int wide_column = 0;    // takes what is left
  int wide_min = 150;     // of its pixels
  QList<int> spare = {};  // columns that a narrow window goes without, the first of them first
};

// `name` is what screen readers say.
QTableView* makeTable(models::RowsModel* rows, const QString& name, const TableOptions& options);

}  // namespace starling::widgets
