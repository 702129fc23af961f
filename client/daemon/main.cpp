// starlingd: the volunteer's daemon.
#include "client/daemon/daemon_program.h"

int main(int argc, char** argv) {
  return starling::daemon::run_daemon(argc, argv, {STARLING_TRAINER_FOLDER, STARLING_UPDATE_SOURCE});
}
