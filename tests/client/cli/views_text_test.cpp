#include "client/cli/views_text.h"

#include <doctest/doctest.h>

using namespace starling;
using leaderboard::Board;
using leaderboard::Unit;

TEST_CASE("the leaderboard shows the volunteer's own row beneath the page") {
  wire::LeaderboardView board;
  board.project = "Birds";
  board.sort = "recent";
  board.volunteers = 70;
  board.rows.resize(1);
  board.rows[0].rank = 1;
  board.rows[0].name = "Ada";
  board.rows[0].figures.of(Board::recent, Unit::credit_per_day) = 2.5;
  board.rows[0].figures.of(Board::total, Unit::credit) = 12.25;
  board.rows[0].figures.of(Board::total, Unit::samples) = 500;
  board.pinned = {.rank = 64, .name = "Bo", .figures = {}};
  const std::string text = cli::format_leaderboard(board);
  CHECK(text.find("70 volunteers") != std::string::npos);
  const std::string name(36, ' ');  // the rest of the name's column
  CHECK(text.find("  rank  name " + name + "   recent a day          credit       samples\n") != std::string::npos);
  CHECK(text.find("     1  Ada  " + name + "       2.500000       12.250000           500\n") != std::string::npos);
  CHECK(text.find("Ada") < text.find("you:"));
  CHECK(text.find("you:") < text.find("Bo"));
}

TEST_CASE("a preview says what joining takes, and a project without a run says so") {
  wire::ProjectPreview preview;
  preview.project = "Birds";
  preview.address = "example.org:7700";
  CHECK(cli::format_preview(preview).find("none yet") != std::string::npos);
  preview.has_run = true;
  preview.run_title = "Songs";
  preview.data_bytes = 5'000'000;
  preview.disk_bytes = 80'000'000;
  preview.bytes_per_hour = 4'200'000'000;
  const std::string text = cli::format_preview(preview);
  CHECK(text.find("Songs") != std::string::npos);
  CHECK(text.find("5.0 MB, once; 80.0 MB of disk") != std::string::npos);
  CHECK(text.find("an hour at the present pace sends 4.2 GB") != std::string::npos);
}

TEST_CASE("peers are named by pseudonyms, this computer among them") {
  CHECK(cli::format_peers({}) == "no averaging yet\n");
  wire::PeersView peers;
  peers.members = 1;
  peers.peers = {
      {.peer = {}, .role = "client_only", .samples = 12, .part = 0.25, .relayed = true, .self = true},
      {.peer = {}, .role = "full", .upload_bytes_per_s = 1.25e6, .download_bytes_per_s = 4e5, .round_trip_ms = 31.4}};
  const std::string text = cli::format_peers(peers);
  CHECK(text.find("00000000  client_only") != std::string::npos);
  CHECK(text.find("25.0 % of the vector  over a relay  (this computer)") != std::string::npos);
  CHECK(text.find("0.0 % of the vector  up 1.2 MB/s  down 400.0 kB/s  31.4 ms\n") != std::string::npos);
}
