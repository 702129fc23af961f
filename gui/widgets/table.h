// A table of a RowsModel: sortable, whole rows, no grid, the last column taking what is left.
#pragma once

#include <QTableView>

#include "gui/models/rows_model.h"

class QSortFilterProxyModel;

namespace starling::widgets {

// `name` is what screen readers say. Without sorting, rows keep the model's order.
QTableView* makeTable(models::RowsModel* rows, const QString& name, bool sorting);

}  // namespace starling::widgets
