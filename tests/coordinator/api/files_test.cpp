// Artefacts, and other routes that are open to everybody.
#include <doctest/doctest.h>

#include "coordinator/api/responses.h"
#include "shared/base/files.h"
#include "shared/crypto/digest.h"
#include "tests/coordinator/api/api_harness.h"

namespace starling::api::testing {
namespace {

struct WithArtefact : TestProject {
  WithArtefact() {
    for (int i = 0; i < 50'000; ++i) bytes += std::to_string(i * 7919);
    digest = crypto::sha256(bytes);
    REQUIRE(write_file_atomically(folder / digest.hex(), bytes).ok());
    REQUIRE(stores().training.artefacts.add({digest, static_cast<std::int64_t>(bytes.size()), "text"}).ok());
  }
  std::string bytes;
  Digest digest;
};

}  // namespace

TEST_CASE_FIXTURE(WithArtefact, "an artefact arrives whole, and a broken download continues") {
  net::HttpClient client = stranger();
  net::Download download;
  download.path = "/v1/artefacts/" + digest.hex();
  download.sha256 = digest;
  download.bytes = static_cast<std::int64_t>(bytes.size());
  download.destination = folder / "whole";
  REQUIRE(client.download_artefact(download).ok());
  CHECK(*read_file(folder / "whole", bytes.size()) == bytes);

  download.destination = folder / "broken";
  REQUIRE(write_file_atomically(folder / "broken.part", bytes.substr(0, 100'000)).ok());
  std::int64_t first_seen = -1;
  download.progress = [&](std::int64_t done) {
    if (first_seen < 0) first_seen = done;
    return true;
  };
  REQUIRE(client.download_artefact(download).ok());
  CHECK(first_seen >= 100'000);
  CHECK(*read_file(folder / "broken", bytes.size()) == bytes);
}

TEST_CASE_FIXTURE(WithArtefact, "only recorded artefacts are served, whatever the path says") {
  net::HttpClient client = stranger();
  for (const std::string& name : {std::string("test.db"), std::string("..%2Ftest.db"), std::string("../test.db"),
                                  std::string("..%2F..%2F..%2Fetc%2Fpasswd"), std::string("%2Fetc%2Fpasswd"),
                                  std::string("..%5Ctest.db"), digest.hex() + "%2F..%2Ftest.db", digest.hex() + "%00",
                                  std::string("%252e%252e%252ftest.db"), std::string("%27%20OR%20%271%27%3D%271"),
                                  std::string(64, '0'), std::string(64, 'g'), std::string("%00"), digest.hex() + "0"}) {
    CAPTURE(name);
    CHECK(client.get("/v1/artefacts/" + name)->status >= 400);
  }
}

TEST_CASE("a database that fails is told as busy, without its path; what a request got wrong is told as it is") {
  for (const ErrorCode code : {ErrorCode::corrupt, ErrorCode::io, ErrorCode::internal, ErrorCode::resource_exhausted}) {
    const gate::Response response = error_response(told({code, "database '/srv/project/coordinator.db': it broke"}));
    CHECK(response.status == 503);
    CHECK(response.body.find("/srv") == std::string::npos);
    CHECK(response.body.find("try again later") != std::string::npos);
  }
  const gate::Response response = error_response(told({ErrorCode::permission_denied, "this invite has expired"}));
  CHECK(response.status == 403);
  CHECK(response.body.find("this invite has expired") != std::string::npos);
}

TEST_CASE("the project's certificate and its health are for everybody") {
  TestProject project;
  net::HttpClient client = project.stranger();
  CHECK(client.get("/v1/ca")->body == project.authority.certificate_pem());
  CHECK(client.get("/healthz")->status == 200);
}

}  // namespace starling::api::testing
