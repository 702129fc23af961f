#include "coordinator/gate/router.h"

#include <doctest/doctest.h>

#include <stdexcept>

using namespace starling::gate;

namespace {

Handler named(const std::string& name) {
  return [name](const Request&) {
    Response response;
    response.body = name;
    return response;
  };
}

std::string route(const Router& router, const std::string& method, const std::string& path,
                  std::string* suffix = nullptr) {
  Request request;
  request.method = method;
  request.path = path;
  std::string allowed;
  const Handler* handler = router.find(request, allowed);
  if (suffix != nullptr) *suffix = request.suffix;
  return handler != nullptr ? (*handler)(request).body : "none, allowed: " + allowed;
}

}  // namespace

TEST_CASE("literal paths, methods and prefixes find their handlers") {
  Router router;
  router.add("GET", "/v1/run", named("run"));
  router.add("POST", "/v1/run", named("post run"));
  router.add_prefix("GET", "/v1/artefacts/", named("artefact"));
  std::string suffix;
  CHECK(route(router, "GET", "/v1/run") == "run");
  CHECK(route(router, "POST", "/v1/run") == "post run");
  CHECK(route(router, "PUT", "/v1/run") == "none, allowed: GET, POST");
  CHECK(route(router, "GET", "/v1/run/") == "none, allowed: ");
  CHECK(route(router, "GET", "/v1/artefacts/00ff", &suffix) == "artefact");
  CHECK(suffix == "00ff");
  for (const char* path : {"/v1/artefacts/", "/v1/artefacts", "/v1/artefacts/a/b", "/v1/artefacts/../run", "", "x"}) {
    CAPTURE(path);
    CHECK(route(router, "GET", path) == "none, allowed: ");
  }
}

TEST_CASE("headers are found without regard to case") {
  Request request;
  request.headers = {{"X-One", "1"}, {"x-one", "2"}};
  CHECK(request.header("x-ONE") == "1");
  CHECK(request.header("X-Two").empty());
}

TEST_CASE("a route counts what it answers, by status and by time") {
  Router router;
  router.add("GET", "/good", named("good"));
  router.add_prefix("GET", "/files/", [](const Request&) -> Response { throw std::runtime_error("broken"); });
  CHECK(route(router, "GET", "/good") == "good");
  CHECK(route(router, "GET", "/good") == "good");
  CHECK_THROWS(route(router, "GET", "/files/a"));
  const std::vector<RouteFigures> figures = router.figures();
  REQUIRE(figures.size() == 2);
  CHECK(figures[0].name == "/good");
  CHECK(figures[0].by_status == std::vector<std::pair<int, std::int64_t>>{{200, 2}});
  std::int64_t counted = 0;
  for (const std::int64_t count : figures[0].by_latency) counted += count;
  CHECK(counted == 2);
  CHECK(figures[1].name == "/files/");
  CHECK(figures[1].by_status == std::vector<std::pair<int, std::int64_t>>{{500, 1}});
}

TEST_CASE("a route that is wrapped is answered by its wrapper, with its own handler or without") {
  Router router;
  router.add("GET", "/one", named("one"));
  router.add("GET", "/two", named("two"));
  bool own = true;
  router.wrap("/one", [&own](const Request& request, const Handler& handler) {
    return own ? handler(request) : Response{.body = "instead"};
  });
  CHECK(route(router, "GET", "/one") == "one");
  own = false;
  CHECK(route(router, "GET", "/one") == "instead");
  CHECK(route(router, "GET", "/two") == "two");
}
