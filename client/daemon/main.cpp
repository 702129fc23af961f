// starlingd: the volunteer's daemon.
#include "client/daemon/daemon_program.h"
#include "shared/base/standard_output.h"

int main(int argc, char** argv) {
  const int status = starling::daemon::run_daemon(argc, argv, {STARLING_TRAINER_FOLDER, STARLING_UPDATE_SOURCE});
  return starling::with_output_written("starlingd", status);
}
