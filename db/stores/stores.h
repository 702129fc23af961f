// The typed stores: questions and orders that the coordinator may give its database. Every call may be made from any
// thread. Reads see the last commit. Writes return after their commit reached the disk (some 10-20 ms, shared with the
// other writes of that moment): an ok() is a promise that survives a power cut.
// Common errors: resource_exhausted (disk or write queue full: answer 503/507, reads go on), corrupt (the message names
// the file), unavailable (the database is closing).
#pragma once

#include "db/stores/credit_stores.h"
#include "db/stores/operator_stores.h"
#include "db/stores/people_stores.h"
#include "db/stores/training_stores.h"

namespace starling::db {

// References into one Database, which must outlive them. Code that needs one group, or one store, takes that alone.
struct Stores {
  PeopleStores people;
  TrainingStores training;
  CreditStores credit;
  OperationStores operation;
};

}  // namespace starling::db
