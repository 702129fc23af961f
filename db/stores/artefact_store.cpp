#include <fmt/core.h>

#include "db/stores/sql_stores.h"

namespace starling::db {
namespace {

Result<ArtefactRecord> read_artefact(const Statement& row) {
  ArtefactRecord artefact;
  STARLING_TRY(row.read_id(0, artefact.digest));
  artefact.bytes = row.integer(1);
  artefact.name = row.text(2);
  return artefact;
}

}  // namespace

Status SqlArtefactStore::add(const ArtefactRecord& artefact) {
  return access_.writes.run([&](Connection& connection) -> Status {
    STARLING_ASSIGN(Statement insert, connection.prepare("INSERT INTO artefact (digest, bytes, name) VALUES (?, ?, ?) "
                                                         "ON CONFLICT DO NOTHING"));
    return insert.bind(artefact.digest, artefact.bytes, artefact.name).run();
  });
}

Result<ArtefactRecord> SqlArtefactStore::find(const Digest& digest) const {
  return only(select(access_, "SELECT digest, bytes, name FROM artefact WHERE digest = ?", read_artefact, digest),
              fmt::format("there is no artefact {}", digest.brief()));
}

Result<std::vector<ArtefactRecord>> SqlArtefactStore::list() const {
  return select(access_, "SELECT digest, bytes, name FROM artefact ORDER BY name, digest LIMIT ?", read_artefact,
                kPageRowsMax);
}

}  // namespace starling::db
