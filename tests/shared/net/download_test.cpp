#include <doctest/doctest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "shared/base/files.h"
#include "shared/crypto/digest.h"
#include "shared/net/http_client.h"
#include "tests/shared/net/test_server.h"
#include "tests/support/temp_dir.h"

using namespace starling;
using namespace std::chrono_literals;
using net::Download;
using net::HttpClient;
using testing::Project;
using testing::Reply;
using testing::TempDir;
using testing::TestServer;

namespace {

constexpr std::size_t kReadMax = 1 << 20;

std::string some_bytes(std::size_t size) {
  std::string bytes(size, '\0');
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<char>(i * 131 + i / 251);
  return bytes;
}

// Serves `bytes`, whole or from where the client asks.
Reply serve_range(const std::string& request, const std::string& bytes) {
  constexpr std::string_view kRange = "Range: bytes=";
  const std::size_t range = request.find(kRange);
  if (range == std::string::npos) return testing::ok_reply(bytes);
  const std::size_t start = std::stoul(request.substr(range + kRange.size()));
  const std::string rest = bytes.substr(start);
  return {.bytes = "HTTP/1.1 206 Partial Content\r\nContent-Range: bytes " + std::to_string(start) + "-" +
                   std::to_string(bytes.size() - 1) + "/" + std::to_string(bytes.size()) +
                   "\r\nContent-Length: " + std::to_string(rest.size()) + "\r\n\r\n" + rest};
}

Download download_of(const std::string& bytes, const std::filesystem::path& destination) {
  Download download;
  download.path = "/v1/artefacts/x";
  download.sha256 = crypto::sha256(bytes);
  download.bytes = static_cast<std::int64_t>(bytes.size());
  download.destination = destination;
  return download;
}

}  // namespace

TEST_CASE("an artefact arrives whole, with its progress, and is not fetched twice") {
  const Project project;
  const TempDir folder;
  const std::string bytes = some_bytes(300'000);
  int requests = 0;
  TestServer server(project, project.coordinator(), [&](const std::string& request) {
    ++requests;
    return serve_range(request, bytes);
  });
  HttpClient client(server.endpoint(), project.client_tls());
  Download download = download_of(bytes, folder / "train.bin");
  std::int64_t last = 0;
  download.progress = [&](std::int64_t done) {
    CHECK(done > last);
    last = done;
    return true;
  };
  REQUIRE(client.download_artefact(download).ok());
  CHECK(last == 300'000);
  CHECK(*read_file(folder / "train.bin", kReadMax) == bytes);
  CHECK(!std::filesystem::exists(folder / "train.bin.part"));
  CHECK(client.download_artefact(download).ok());
  CHECK(requests == 1);
}

TEST_CASE("a download that was cut off goes on where it stopped") {
  const Project project;
  const TempDir folder;
  const std::string bytes = some_bytes(300'000);
  std::vector<std::string> requests;
  TestServer server(project, project.coordinator(), [&](const std::string& request) {
    requests.push_back(request);
    Reply reply = serve_range(request, bytes);
    if (requests.size() == 1) {
      reply.bytes.resize(100'000);
      reply.then_close = true;
    }
    return reply;
  });
  HttpClient client(server.endpoint(), project.client_tls());
  const Download download = download_of(bytes, folder / "train.bin");
  CHECK(client.download_artefact(download).error().code == ErrorCode::unavailable);
  const auto have = std::filesystem::file_size(folder / "train.bin.part");
  CHECK(have > 90'000);
  REQUIRE(client.download_artefact(download).ok());
  CHECK(requests[1].find("Range: bytes=" + std::to_string(have) + "-") != std::string::npos);
  CHECK(*read_file(folder / "train.bin", kReadMax) == bytes);
}

TEST_CASE("a server that knows no ranges sends all of it again, and that is fine") {
  const Project project;
  const TempDir folder;
  const std::string bytes = some_bytes(1000);
  TestServer server(project, project.coordinator(), [&](const std::string&) { return testing::ok_reply(bytes); });
  REQUIRE(write_file_atomically(folder / "f.part", bytes.substr(0, 400)).ok());
  HttpClient client(server.endpoint(), project.client_tls());
  REQUIRE(client.download_artefact(download_of(bytes, folder / "f")).ok());
  CHECK(*read_file(folder / "f", kReadMax) == bytes);
}

TEST_CASE("other bytes than promised are removed and never become the file") {
  const Project project;
  const TempDir folder;
  const std::string bytes = some_bytes(1000);
  bool honest = false;
  TestServer server(project, project.coordinator(), [&](const std::string& request) {
    return serve_range(request, honest ? bytes : std::string(bytes.size(), 'x'));
  });
  HttpClient client(server.endpoint(), project.client_tls());
  const Download download = download_of(bytes, folder / "f");
  CHECK(client.download_artefact(download).error().code == ErrorCode::corrupt);
  CHECK(!std::filesystem::exists(folder / "f"));
  CHECK(!std::filesystem::exists(folder / "f.part"));
  honest = true;  // the next try is not spoilt by the first
  CHECK(client.download_artefact(download).ok());
}

TEST_CASE("a file of another length is refused before a byte of it is written") {
  const Project project;
  const TempDir folder;
  const std::string bytes = some_bytes(1000);
  TestServer server(project, project.coordinator(), [&](const std::string&) { return testing::ok_reply(bytes + "x"); });
  HttpClient client(server.endpoint(), project.client_tls());
  CHECK(client.download_artefact(download_of(bytes, folder / "f")).error().code == ErrorCode::corrupt);
  CHECK(std::filesystem::file_size(folder / "f.part") == 0);
  REQUIRE(write_file_atomically(folder / "f.part", bytes.substr(0, 400)).ok());
  CHECK(client.download_artefact(download_of(bytes, folder / "f")).error().code == ErrorCode::corrupt);
  CHECK(*read_file(folder / "f.part", kReadMax) == bytes.substr(0, 400));  // costs nothing of what is here
}

TEST_CASE("a part that is longer than the file is thrown away") {
  const Project project;
  const TempDir folder;
  const std::string bytes = some_bytes(1000);
  TestServer server(project, project.coordinator(),
                    [&](const std::string& request) { return serve_range(request, bytes); });
  REQUIRE(write_file_atomically(folder / "f.part", some_bytes(2000)).ok());
  HttpClient client(server.endpoint(), project.client_tls());
  CHECK(client.download_artefact(download_of(bytes, folder / "f")).ok());
}

TEST_CASE("a missing artefact is not found, and a damaged file at the destination is replaced") {
  const Project project;
  const TempDir folder;
  const std::string bytes = some_bytes(1000);
  bool there = false;
  TestServer server(project, project.coordinator(), [&](const std::string& request) -> Reply {
    if (there) return serve_range(request, bytes);
    return {.bytes = "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"};
  });
  HttpClient client(server.endpoint(), project.client_tls());
  REQUIRE(write_file_atomically(folder / "f", "damaged").ok());
  CHECK(client.download_artefact(download_of(bytes, folder / "f")).error().code == ErrorCode::not_found);
  there = true;
  REQUIRE(client.download_artefact(download_of(bytes, folder / "f")).ok());
  CHECK(*read_file(folder / "f", kReadMax) == bytes);
}

TEST_CASE("a download stops when it is told to, or when nothing comes any more") {
  const Project project;
  const TempDir folder;
  const std::string bytes = some_bytes(300'000);
  TestServer server(project, project.coordinator(), [&](const std::string& request) {
    Reply reply = serve_range(request, bytes);
    reply.bytes.resize(100'000);
    reply.then_hang = true;
    return reply;
  });
  HttpClient client(server.endpoint(), project.client_tls());
  Download download = download_of(bytes, folder / "f");
  download.stall_timeout = 200ms;
  CHECK(client.download_artefact(download).error().code == ErrorCode::deadline_exceeded);
  download.progress = [](std::int64_t) { return false; };
  CHECK(client.download_artefact(download).error().message.find("stopped on request") != std::string::npos);
}

TEST_CASE("a folder that cannot be written to is named") {
  const Project project;
  TestServer server(project, project.coordinator(), [](const std::string&) { return testing::ok_reply("x"); });
  HttpClient client(server.endpoint(), project.client_tls());
  const auto status = client.download_artefact(download_of("x", "/proc/none/f"));
  REQUIRE(!status.ok());
  CHECK(status.error().code == ErrorCode::not_found);
  CHECK(status.error().message.find("/proc/none/f.part") != std::string::npos);
}
