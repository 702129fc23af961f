// A browser without a screen, on top of the router: it keeps cookies, finds the forms' tokens and follows redirects.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "coordinator/web/account_site.h"
#include "db/stores/database.h"
#include "tests/support/temp_dir.h"

namespace starling::web::testing {

using Fields = std::vector<std::pair<std::string, std::string>>;

constexpr const char* kPassword = "correct horse battery";

// A clock that a test moves.
class StillClock final : public Clock {
 public:
  [[nodiscard]] TimePoint now() const override { return now_; }
  [[nodiscard]] WallTime wall_now() const override { return wall_; }
  void advance(Duration by) {
    now_ += by;
    wall_.unix_ms += to_ms(by);
  }

 private:
  TimePoint now_{std::chrono::hours(1)};
  WallTime wall_{1'718'000'000'000};
};

// An outbox that keeps the letters.
class Letters final : public accounts::Outbox {
 public:
  [[nodiscard]] bool open() const override { return is_open; }
  Status leave(accounts::Letter letter) override {
    letters.push_back(std::move(letter));
    return {};
  }
  // The token in the newest letter's link.
  [[nodiscard]] std::string token() const;

  bool is_open = true;
  std::vector<accounts::Letter> letters;
};

// A project's pages over a real database.
struct Pages {
  explicit Pages(accounts::Policy policy = {.open_to_all = true});
  [[nodiscard]] const db::Stores& stores() const { return database->stores(); }

  starling::testing::TempDir folder;
  std::unique_ptr<db::Database> database;
  StillClock clock;
  Letters letters;
  accounts::BanList bans;
  accounts::Accounts people;
  AccountSite site;
  gate::Router router;
};

class Browser {
 public:
  explicit Browser(const gate::Router& router, std::string address = "192.0.2.7")
      : router_(router), address_(std::move(address)) {}
  explicit Browser(const Pages& pages, std::string address = "192.0.2.7") : Browser(pages.router, std::move(address)) {}

  gate::Response get(const std::string& path, const Fields& query = {});
  // Posts as a person does, who looks at the page with the form first.
  gate::Response post(const std::string& path, const Fields& fields, const std::string& form_at);
  // Posts exactly these fields.
  gate::Response send(const std::string& path, const Fields& fields, const Fields& headers = {});

  gate::Response sign_up(const std::string& name, const std::string& email = "", const std::string& invite = "");
  gate::Response log_in(const std::string& name, const std::string& password = kPassword);

  std::map<std::string, std::string> cookies;

 private:
  gate::Response answer(gate::Request request);
  const gate::Router& router_;
  std::string address_;
};

// The router's answer to a GET.
gate::Response get_from(const gate::Router& router, const std::string& path, const Fields& query = {});
std::string header_of(const gate::Response& response, const std::string& name);
bool has(const gate::Response& response, const std::string& text);
// The value of the first form token on a page.
std::string token_on(const gate::Response& page);

}  // namespace starling::web::testing
