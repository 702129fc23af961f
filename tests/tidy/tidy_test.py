#!/usr/bin/env python3
"""Plants one violation of each kind and checks that tidy finds it, and finds nothing in code that obeys."""

import json
import shutil
import tempfile
import unittest
from pathlib import Path

import averaging_page
import comments
import cpp_classes
import cpp_source
import documents
import house
import protocol_page
import tidy


def errors(path, text):
    return [f.text for f in tidy.check_file(path, text) if not f.soft]


class Arrows(unittest.TestCase):
    def test_an_arrow_of_the_table_is_fine(self):
        self.assertEqual(errors("shared/crypto/a.cpp", '#include "shared/base/result.h"\n#include <vector>\n'), [])

    def test_an_arrow_that_the_table_lacks_is_found(self):
        found = errors("shared/base/a.cpp", '#include "shared/wire/ids.h"\n')
        self.assertEqual(found, ["shared/base may not include shared/wire (shared/wire/ids.h)"])

    def test_client_and_coordinator_do_not_meet(self):
        self.assertEqual(len(errors("client/daemon/a.cpp", '#include "coordinator/core/run.h"\n')), 1)
        self.assertEqual(len(errors("coordinator/api/a.cpp", '#include "client/session/session.h"\n')), 1)

    def test_a_test_includes_what_its_subject_may(self):
        self.assertEqual(errors("tests/client/session/a_test.cpp", '#include "client/averaging/x.h"\n'), [])
        self.assertEqual(len(errors("tests/client/policy/a_test.cpp", '#include "client/averaging/x.h"\n')), 1)

    def test_an_unknown_folder_is_found(self):
        self.assertEqual(len(errors("client/misc/a.cpp", "int x;\n")), 1)

    def test_own_headers_are_named_from_the_root(self):
        self.assertEqual(len(errors("shared/base/a.cpp", '#include "result.h"\n')), 1)

    def test_an_include_in_a_comment_does_not_count(self):
        self.assertEqual(errors("shared/base/a.cpp", '// #include "shared/wire/ids.h"\n'), [])

    def test_every_arrow_of_the_table_leads_to_a_folder_of_the_table(self):
        for folder, targets in house.ARROWS.items():
            for target in targets:
                mirrors = target.startswith("tests/") and target.removeprefix("tests/") in house.ARROWS
                known = target.endswith("/*") or target in house.ARROWS or mirrors
                self.assertTrue(known, f"{folder} -> {target}")


class Use(unittest.TestCase):
    def arrows(self, tree):
        return [f.text for f in tidy.check_used_arrows(tree)]

    def headers(self, tree):
        return [f.path for f in tidy.check_used_headers(tree)]

    def test_an_arrow_that_no_file_takes_is_found(self):
        self.assertEqual(self.arrows({"shared/crypto/a.cpp": "#include <vector>\n"}),
                         ["no file of shared/crypto includes shared/base: remove the arrow"])
        self.assertEqual(self.arrows({"shared/crypto/a.cpp": '#include "shared/base/result.h"\n'}), [])

    def test_an_arrow_to_many_folders_needs_one_that_is_another(self):
        own = '#include "coordinator/server/a.h"\n#include "db/sql/a.h"\n#include "shared/base/a.h"\n'
        self.assertEqual(self.arrows({"coordinator/server/a.cpp": own}),
                         ["no file of coordinator/server includes coordinator/*: remove the arrow"])
        self.assertEqual(self.arrows({"coordinator/server/a.cpp": own + '#include "coordinator/core/a.h"\n'}), [])

    def test_an_arrow_of_the_tests_alone_is_found_too(self):
        folder, arrows = next(iter(house.EXTRA_TEST_ARROWS.items()))
        taken = "".join(f'#include "{arrow}/a.h"\n' for arrow in arrows)
        self.assertEqual(self.arrows({f"{folder}/a_test.cpp": taken}), [])
        self.assertEqual(len(self.arrows({f"{folder}/a_test.cpp": ""})), len(arrows))

    def test_a_header_that_only_tests_include_is_found(self):
        tree = {"shared/base/a.h": "", "shared/base/a.cpp": '#include "shared/base/a.h"\n',
                "tests/shared/base/a_test.cpp": '#include "shared/base/a.h"\n'}
        self.assertEqual(self.headers(tree), ["shared/base/a.h"])
        tree["shared/base/main.cpp"] = '#include "shared/base/a.h"\n'
        self.assertEqual(self.headers(tree), [])

    def test_a_header_that_only_such_headers_include_is_found(self):
        tree = {"shared/base/a.h": '#include "shared/base/b.h"\n', "shared/base/a.cpp": '#include "shared/base/a.h"\n',
                "shared/base/b.h": "", "shared/base/b.cpp": '#include "shared/base/b.h"\n'}
        self.assertEqual(self.headers(tree), ["shared/base/a.h", "shared/base/b.h"])

    def test_an_exception_ends_when_the_product_includes_the_header(self):
        header = next(iter(house.NOT_YET_USED))
        tree = {header: "", "tests/sim/a.cpp": f'#include "{header}"\n'}
        self.assertEqual(self.headers(tree), [])
        tree["client/session/a.cpp"] = f'#include "{header}"\n'
        self.assertEqual(self.headers(tree), [tidy.HOUSE])


class Doors(unittest.TestCase):
    def test_torch_stays_in_its_rooms(self):
        self.assertEqual(errors("client/models/gpt.cpp", "#include <torch/torch.h>\n"), [])
        self.assertEqual(len(errors("client/session/a.cpp", "#include <torch/torch.h>\n")), 1)

    def test_a_header_does_not_pass_a_library_on(self):
        self.assertEqual(errors("shared/wire/a.cpp", "#include <nlohmann/json.hpp>\n"), [])
        self.assertEqual(len(errors("shared/wire/a.h", "#pragma once\n#include <nlohmann/json.hpp>\n")), 1)

    def test_a_library_behind_a_header_needs_a_door_too(self):
        tree = {"shared/crypto/handles.h": "#include <openssl/evp.h>\n",
                "shared/crypto/keys.h": '#include "shared/crypto/handles.h"\n',
                "shared/crypto/keys.cpp": '#include "shared/crypto/keys.h"\n'}
        self.assertEqual(list(tidy.check_hidden_doors(tree)), [])
        tree["shared/net/a.cpp"] = '#include "shared/crypto/keys.h"\n'
        self.assertEqual([f.path for f in tidy.check_hidden_doors(tree)], ["shared/net/a.cpp"])

    def test_a_test_shares_the_door_of_its_subject(self):
        self.assertEqual(errors("tests/shared/crypto/a_test.cpp", "#include <openssl/evp.h>\n"), [])

    def test_a_library_without_a_door_is_found(self):
        self.assertEqual(len(errors("shared/base/a.cpp", "#include <boost/any.hpp>\n")), 1)

    def test_system_headers_need_no_door(self):
        self.assertEqual(errors("shared/base/a.cpp", "#include <sys/mman.h>\n#include <unistd.h>\n"), [])


class Sizes(unittest.TestCase):
    def test_a_function_past_the_wall_is_found(self):
        body = "  step();\n" * 69
        self.assertEqual(errors("shared/base/a.cpp", "void f() {\n" + "  step();\n" * 68 + "}\n"), [])
        self.assertEqual(len(errors("shared/base/a.cpp", "void f() {\n" + body + "}\n")), 1)

    def test_a_test_case_is_a_function(self):
        text = 'TEST_CASE("a {brace} in a name") {\n' + "  step();\n" * 80 + "}\n"
        self.assertEqual(len(errors("tests/shared/base/a_test.cpp", text)), 1)

    def test_a_long_member_is_found_behind_an_initializer_list(self):
        text = "struct A {\n A(int a, int b) : a_{a}, b_(b) {\n" + "  step();\n" * 80 + " }\n int a_{1};\n};\n"
        self.assertEqual(len(errors("shared/base/a.cpp", text)), 1)

    def test_a_sixth_parameter_is_found(self):
        self.assertEqual(errors("shared/base/a.cpp", "void f(std::map<int, int> a, int b, int c, int d, int e) {}\n"), [])
        self.assertEqual(len(errors("shared/base/a.cpp", "void f(int a, int b, int c, int d, int e, int g) {}\n")), 1)

    def test_a_file_past_the_wall_is_found(self):
        self.assertEqual(len(errors("shared/base/a.cpp", "int x;\n" * 701)), 1)
        self.assertEqual(errors("shared/base/a.cpp", "int x;\n" * 400), [])

    def test_python_has_the_same_walls(self):
        self.assertEqual(len(errors("tests/e2e/a.py", "def f():\n" + "    g()\n" * 70)), 1)
        self.assertEqual(len(errors("tests/e2e/a.py", "def f(a, b, c, d, e, g):\n    pass\n")), 1)


class Scanner(unittest.TestCase):
    def test_functions_are_found_where_they_are(self):
        text = """
namespace starling {
template <typename T>
T twice(T value) { return value + value; }
class A : public B {
 public:
  explicit A(int x) : x_{x}, y_(x) { go({1, 2}); }
  bool operator()(int a, int b) const { return a < b; }
  void g() const&;
 private:
  int x_{0};
  std::vector<int> v_ = {1, 2, 3};
  std::function<void(int, int)> h_ = [](int, int) { go(); };
};
constexpr char kSeparated = '{';
constexpr int kBig = 1'000'000;
void after(int a) {
  auto f = [](int x, int y, int z, int u, int v, int w) { return x; };
}
}  // namespace starling
"""
        found = [(f.name, f.line, f.lines, f.parameters) for f in cpp_source.functions(text)]
        self.assertEqual(found, [("twice", 3, 2, 1), ("A", 7, 1, 1), ("operator()", 8, 1, 2), ("after", 17, 3, 1)])

    def test_raw_strings_hide_their_braces(self):
        found = cpp_source.functions('const char* k = R"x({ "a": } )x";\nvoid f() {\n}\n')
        self.assertEqual([(f.name, f.lines) for f in found], [("f", 2)])


class ClassReader(unittest.TestCase):
    def counted(self, text):
        return {c.name: (c.data, c.methods) for c in cpp_classes.classes(text)}

    def one(self, members):
        return self.counted(f"class A : public B<int>, private C {{\n public:\n{members}\n}};\n")["A"]

    def test_data_is_told_from_methods(self):
        for member, count in {
            "int a;": (1, 0), "int a, b;": (2, 0), "std::map<int, int> a;": (1, 0), "int a[3];": (1, 0), "int a : 3;": (1, 0),
            "int a = f(1, 2);": (1, 0), "int a{f(1, 2)};": (1, 0), "A a{{1, 2}, [](int) { return 1; }};": (1, 0),
            "int a{1}, b{2};": (2, 0), "std::function<void(int, int)> a;": (1, 0), "alignas(64) int a;": (1, 0),
            "std::function<int(int)> a = [](int x) { return x; };": (1, 0), "int (*a)(int, int) = nullptr;": (1, 0),
            "int a GUARDED_BY(mutex_) = 0;": (1, 0), "mutable std::optional<B::C> a GUARDED_BY(mutex_);": (1, 0),
            "static constexpr int kA = 3;": (0, 0), "inline static const int kA = 3;": (0, 0), "using F = void(int);": (0, 0),
            "friend class D;": (0, 0), "friend bool operator==(const A&, const A&) = default;": (0, 0), "class D;": (0, 0),
            "friend bool operator<(const A& a, const A& b) { return a.x < b.x; }": (0, 0), "enum E : int;": (0, 0),
            "A(int x) : a_{x}, b_(x), c_{} { go({1, 2}); }": (0, 1), "explicit A(std::vector<int> x) noexcept : B{x} {}": (0, 1),
            "A(const A&) = default;": (0, 1), "A& operator=(A&&) noexcept = delete;": (0, 1), "virtual ~A() = default;": (0, 1),
            "explicit operator bool() const { return true; }": (0, 1), "bool operator()(int a, int b) const;": (0, 1),
            "auto operator<=>(const A&) const = default;": (0, 1), "bool operator<(const std::vector<int>& o) const;": (0, 1),
            "const T* operator->() const { return p_; }": (0, 1), "A& operator<<(int x);": (0, 1),
            "template <typename T, typename U = std::vector<T>>\nvoid f(T t) {\n  if (t) { g(); }\n}": (0, 1),
            "template <typename T> using V = std::vector<T>;": (0, 0),
            "[[nodiscard]] auto f(B b = {}) const& -> std::vector<int>;": (0, 1),
            "[[nodiscard]] static constexpr int f() { return 1; }": (0, 1), "virtual void f() EXCLUDES(mutex_) = 0;": (0, 1),
            "Q_OBJECT\n signals:\n  void changed();\n private slots:\n  void go();": (0, 2),
        }.items():
            self.assertEqual(self.one(member), count, member)
            self.assertEqual(self.one(f"int before;\n{member}\n int after;"), (count[0] + 2, count[1]), member)

    def test_nested_classes_count_for_themselves(self):
        text = """struct A {
  struct B { int x; int f(); };
  class C final : public B { int y, z; } c, d;
  enum class E { one, two };
  B b{1};
};
"""
        self.assertEqual(self.counted(text), {"A": (3, 0), "A::B": (1, 1), "A::C": (2, 0), "A::E": (0, 0)})

    def test_classes_are_found_where_they_are(self):
        text = """namespace starling {
struct Ahead;
constexpr int kBig{1};
template <typename T,
          typename U>
class [[nodiscard]] A
    : public B {
  int x;
};
inline bool f(const A& a) { return a.x; }
template <>
struct Codec<std::vector<int>> {};
class CAPABILITY("mutex") Mutex {};
enum class E : std::uint8_t { one };
A make(int x, A a = {}) { struct Local { int y; }; return a; }
}  // namespace starling
"""
        found = [(c.name, c.line, c.opening, c.kind) for c in cpp_classes.classes(text)]
        self.assertEqual(found, [("A", 4, 7, "class"), ("Codec", 11, 12, "struct"), ("Mutex", 13, 13, "class"),
                                 ("E", 14, 14, "enum class")])


class Classes(unittest.TestCase):
    def found(self, text, path="shared/base/a.cpp"):
        return [(f.line, " ".join(f.text.split()[:4]), f.soft) for f in tidy.check_classes(path, text)]

    def members(self, data, methods=0):
        return "".join(f"  std::function<void(int)> d{i}_{{[](int x) {{ f(x); }}}};\n" for i in range(data)) + \
            "".join(f"  A(T{i} t) : B{{t}}, d1_(t) {{ go(); }}\n" for i in range(methods))

    def test_a_class_past_either_wall_is_found(self):
        self.assertEqual(self.found(f"class A {{\n{self.members(20, 40)}}};\n"), [])
        self.assertEqual(self.found(f"int x;\nclass A {{\n{self.members(21, 41)}}};\n"),
                         [(2, "A has 21 data", False), (2, "A has 41 methods;", False)])
        self.assertEqual(len(errors("shared/base/a.cpp", f"class A {{\n{self.members(21)}}};\n")), 1)

    def test_a_nested_class_counts_for_itself(self):
        text = f"class A {{\n struct B {{\n{self.members(15)} }} b_;\n{self.members(19)}}};\n"
        self.assertEqual(self.found(text), [])
        text = f"class A {{\n struct B {{\n{self.members(21)} }};\n{self.members(19)}}};\n"
        self.assertEqual(self.found(text), [(2, "A::B has 21 data", False)])
        self.assertEqual(self.found(f"struct A::Impl {{\n{self.members(21)}}};\n"), [(1, "A::Impl has 21 data", False)])

    def test_an_enumeration_may_have_more_values(self):
        self.assertEqual(self.found("enum class A { " + ", ".join(f"a{i}" for i in range(50)) + " };\n"), [])

    def test_a_test_is_told_so_only(self):
        self.assertEqual(self.found(f"struct A {{\n{self.members(21)}}};\n", "tests/sim/a.h"), [(1, "A has 21 data", True)])


class Contracts(unittest.TestCase):
    def found(self, text, path="shared/base/odd_things.h"):
        return [(f.line, f.text.split()[0]) for f in tidy.check_contracts(path, text)]

    def test_a_comment_above_or_beside_is_a_contract(self):
        for text in ["// A.\nstruct A {\n};\nstruct B;\n", "// A.\ntemplate <typename T,\n          typename U>\nclass A : B {};\n",
                     "// A.\nenum class A : int { one };\n", "struct A {  // A.\n int x;\n};\n", "struct A { int x; };  // A.\n",
                     "/* A\n   still A. */\nclass [[nodiscard]] A final\n    : public B {};\n",
                     "// A.\nstruct std::hash<A<int>> {};\n"]:
            self.assertEqual(self.found("namespace a {\n" + text + "// Z.\nstruct Z {};\n}\n"), [], text)

    def test_a_type_without_one_is_found(self):
        for text in ["struct A {\n  int x;  // x\n};\n", "// Far away.\n\nstruct A {};\n", "enum class A { one };\n",
                     "union A {};\n", "int x;  // x\n        // and more of it\nstruct A {\n};\n", "struct A {};  // NOLINT\n",
                     "// Of f.\nvoid f();\ntemplate <>\nstruct A<int> {\n};\n", "// clang-format off\nstruct A {};\n"]:
            self.assertEqual([name for _, name in self.found("namespace a {\n" + text + "// Z.\nstruct Z {};\n}\n")], ["A"], text)

    def test_the_leading_comment_is_the_contract_of_the_only_type_or_of_the_files_subject(self):
        leading, others = "// Odd.\n#pragma once\n#include <a>\nnamespace a {\n", "// B.\nstruct B {};\n}\n"
        self.assertEqual(self.found(leading + "struct A {\n  struct Nested {};\n};\n}\n"), [])
        self.assertEqual(self.found(leading + "class OddThings {};\n" + others), [])
        self.assertEqual(self.found(leading + "struct A {};\n" + others), [(5, "A")])
        self.assertEqual(self.found("#pragma once\nstruct A {};\n"), [(2, "A")])
        self.assertEqual(self.found("#pragma once\nint x;\n// X.\nint y;\nclass OddThings {};\n"), [(5, "OddThings")])

    def test_it_holds_for_headers_of_the_product(self):
        for path in ["shared/base/a.cpp", "tests/shared/base/a.h", "tests/sim/a.h"]:
            self.assertEqual(self.found("struct A {};\n", path), [], path)
        self.assertEqual(len(errors("gui/app/a.h", "#pragma once\nstruct A {};\n")), 1)


class CommentShares(unittest.TestCase):
    def test_lines_with_nothing_but_a_comment_count_among_those_that_are_not_empty(self):
        texts = {"db/sql/a.h": "// A.\n\nint x;  // x\n  /* B\n     C */\n", "db/sql/a.cpp": 'auto x = "// x";\n',
                 "tests/sim/a.h": "// A.\n", "db/sql/CMakeLists.txt": "# A.\n"}
        self.assertEqual(tidy.comment_shares(texts), "comment lines, all / headers: client none / none, coordinator none / none, "
                         "shared none / none, db 60 % / 75 %, gui none / none")


class Words(unittest.TestCase):
    def test_a_mark_of_unfinished_work_is_found(self):
        self.assertEqual(len(errors("shared/base/a.cpp", "// " + house.BANNED_WORDS[0] + ": later\n")), 1)

    def test_a_header_says_pragma_once_and_opens_no_namespace(self):
        self.assertEqual(len(errors("shared/base/a.h", "int x;\n")), 1)
        self.assertEqual(len(errors("shared/base/a.h", "#pragma once\nusing namespace std;\n")), 1)

    def test_a_printed_command_quotes_for_the_shell(self):
        for line in ["\"run: starling-coordinator run sign '{}' {}\"", "\"starling join '{0}'\"",
                     "\"with: starling-coordinator \"\n  \"restore '{0}' NEW-DIR\""]:
            self.assertEqual(len(errors("coordinator/server/a.cpp", f"auto t = {line};\n")), 1, line)
            self.assertEqual(errors("tests/coordinator/server/a.cpp", f"auto t = {line};\n"), [], line)
        for line in ["\"run: starling-coordinator run sign {} {}\"", "\"starlingd {} is ready in '{}'\"",
                     "\"'{}' is a backup; restore it: starling-coordinator restore {}\"",
                     "\"see starling status; in '{}'\""]:
            self.assertEqual(errors("coordinator/server/a.cpp", f"auto t = {line};\n"), [], line)

    def test_pure_folders_take_time_and_chance_as_arguments(self):
        for line in ["auto t = clock.now();", "int r = std::rand();", "std::this_thread::sleep_for(x);",
                     "std::thread t;", "std::ofstream f;"]:
            self.assertEqual(len(errors("coordinator/core/a.cpp", f"void f() {{ {line} }}\n")), 1, line)
            self.assertEqual(errors("coordinator/server/a.cpp", f"void f() {{ {line} }}\n"), [], line)
        self.assertEqual(errors("coordinator/core/a.cpp", "void f(TimePoint now) { g(now); }  // not now()\n"), [])


class Folders(unittest.TestCase):
    def test_a_folder_with_code_needs_a_target_and_tests(self):
        with tempfile.TemporaryDirectory() as name:
            root = Path(name)
            (root / "shared/base").mkdir(parents=True)
            (root / "shared/base/a.cpp").write_text("int x;\n")
            self.assertEqual(len([f for f in tidy.check_tree(root) if not f.soft]), 3)  # the file is not built either
            (root / "shared/base/CMakeLists.txt").write_text("add_library(base a.cpp)\n")
            (root / "tests/shared/base").mkdir(parents=True)
            (root / "tests/shared/base/a_test.cpp").write_text("int x;\n")
            (root / "tests/shared/base/CMakeLists.txt").write_text("starling_test(base_test a_test.cpp)\n")
            self.assertEqual([f for f in tidy.check_tree(root) if not f.soft], [])

    def test_a_file_that_is_not_built_is_found(self):
        recipes = {"tests/fuzz/CMakeLists.txt": "add_executable(${name} ${name}_fuzz.cpp)\nfuzz(frames)\nmain.cpp\n"}
        paths = [f"tests/fuzz/{name}.cpp" for name in ("frames_fuzz", "main", "old_main", "codecs_fuzz", "frames")]
        self.assertEqual([f.path for f in tidy.check_built(paths, recipes)],
                         ["tests/fuzz/old_main.cpp", "tests/fuzz/codecs_fuzz.cpp", "tests/fuzz/frames.cpp"])

    def test_a_library_that_names_no_files_has_those_of_its_own_folder(self):
        recipes = {"shared/run/CMakeLists.txt": "starling_library(shared_run\n  DEPS a)\n",
                   "shared/net/CMakeLists.txt": "starling_library(shared_net\n  SOURCES a.cpp\n  DEPS a)\n"}
        paths = ["shared/run/b.cpp", "shared/run/deeper/b.cpp", "shared/net/b.cpp"]
        self.assertEqual([f.path for f in tidy.check_built(paths, recipes)],
                         ["shared/run/deeper/b.cpp", "shared/net/b.cpp"])



class Algorithms(unittest.TestCase):
    REGISTRY = '    Algorithm{"diloco", "steps apart", "a paper", diloco},\n'

    def found(self, path, text, page="\n| `diloco` | … |\n"):
        return [f.path for f in tidy.check_algorithms({tidy.REGISTRY: self.REGISTRY, path: text}, page)]

    def test_a_name_that_decides_is_found_outside_the_registry(self):
        self.assertEqual(self.found("client/session/a.cpp", 'if (name == "diloco") x();'), ["client/session/a.cpp"])
        self.assertEqual(self.found("tests/client/a_test.cpp", 'run("diloco");'), [])
        self.assertEqual(self.found("client/session/a.cpp", '// as "diloco" does\nx("dilocos");'), [])

    def test_an_algorithm_that_the_documentation_lacks_is_found(self):
        self.assertEqual(self.found("client/session/a.cpp", "", page=""), [tidy.ALGORITHMS_PAGE])


class ProtocolPage(unittest.TestCase):
    def test_a_field_that_the_page_does_not_know_is_found(self):
        root = Path(__file__).resolve().parents[2]
        with tempfile.TemporaryDirectory() as name:
            copy = Path(name)
            shutil.copytree(root / "shared", copy / "shared")
            (copy / "docs").mkdir()
            (copy / protocol_page.PAGE).write_text(protocol_page.page(copy))
            self.assertTrue(protocol_page.is_current(copy))
            header = copy / "shared/protocol/join.h"
            header.write_text(header.read_text().replace("struct JoinRequest {", "struct JoinRequest {\n  int age = 0;  // of Ada"))
            self.assertFalse(protocol_page.is_current(copy))
            self.assertIn("| `age` | `int` | `0` |  | of Ada |", protocol_page.page(copy))


class AveragingPage(unittest.TestCase):
    ROOT = Path(__file__).resolve().parents[2]

    def test_a_figure_that_the_page_does_not_have_is_found(self):
        with tempfile.TemporaryDirectory() as name:
            copy = Path(name)
            shutil.copytree(self.ROOT / "docs", copy / "docs")
            self.assertTrue(averaging_page.is_current(copy))
            source = copy / averaging_page.SOURCE
            measured = json.loads(source.read_text())
            measured["rows"][0]["time"] = 9.5
            source.write_text(averaging_page.text_of(measured))
            self.assertFalse(averaging_page.is_current(copy))
            self.assertIn("|4 × 100|9.500 × bound|", averaging_page.page(copy))

    def test_figures_of_the_bench_go_where_the_rows_have_its_names(self):
        measured = {"rows": [{"bench": "a", "figure": "ratio_to_bound", "time": 2, "cpu": 1, "run": "A"},
                             {"bench": "a", "figure": "ratio_to_bound", "time": 2, "gloo": 3, "gloo_run": "A", "run": "B"}]}
        figures = {"ratio_to_bound": 1.23456, "cpu_s_per_gb": 2.34, "gloo_ratio_to_bound": 4.567}
        averaging_page.take(measured, {"rows": [{"name": "a", "figures": figures}, {"name": "b", "figures": {}}]}, "A")
        self.assertEqual([row["time"] for row in measured["rows"]], [1.235, 2])
        self.assertEqual((measured["rows"][0]["cpu"], measured["rows"][1]["gloo"]), (2.3, 4.57))

    def test_the_data_are_written_as_they_were_read(self):
        text = (self.ROOT / averaging_page.SOURCE).read_text()
        self.assertEqual(averaging_page.text_of(json.loads(text)), text)


class Documents(unittest.TestCase):
    def found(self, pages):
        with tempfile.TemporaryDirectory() as name:
            root = Path(name)
            for path, text in pages.items():
                (root / path).parent.mkdir(parents=True, exist_ok=True)
                (root / path).write_text(text)
            return [f"{path}:{line}: {text}" for path, line, text in documents.check(root)]

    def test_a_wide_line_is_found_unless_it_is_a_row(self):
        self.assertEqual(self.found({"README.md": "| " + "x" * 200 + " |\n"}), [])
        self.assertEqual(len(self.found({"README.md": "x" * 141 + "\n"})), 1)

    def test_a_long_readme_is_found(self):
        self.assertEqual(self.found({"README.md": "word\n" * 1300, "docs/a.md": "word\n" * 2000}), [])
        self.assertEqual(self.found({"README.md": "word\n" * 1301}), ["README.md:1: 1301 words; this page has at most 1300"])

    def test_inverted_beginnings_and_phrases_are_found_in_prose_only(self):
        for text in ["What it does is little.", "It does. Whoever asks is told.", "- As here.", "# Whose it is", "| a | Of b |",
                     "He waits in vain.", "Good.\nThe same holds."]:
            self.assertEqual(len(self.found({"README.md": text + "\n"})), 1, text)
        for text in ["It is as it\nAs is.", "What is this? A page.", "    What a command", "```\nAs code\n```", "It does what it does."]:
            self.assertEqual(self.found({"README.md": text + "\n"}), [], text)

    def test_links_lead_somewhere(self):
        pages = {"README.md": "[a](docs/a.md#the-b-of-it), [far](https://example.org/), [over\ntwo](docs/a.md)\n",
                 "docs/a.md": "# A\n\n## The `B`, of it\n"}
        self.assertEqual(self.found(pages), [])
        pages["docs/a.md"] = "# A\n\n[b](b.md)\n"
        self.assertEqual(self.found(pages), ["README.md:1: docs/a.md#the-b-of-it: no such heading",
                                             "docs/a.md:3: the link to b.md leads nowhere"])

    def test_the_index_names_every_page(self):
        pages = {"docs/index.md": "[a](a.md)\n", "docs/a.md": "a\n", "docs/deep/b.md": "b\n"}
        self.assertEqual(self.found(pages), ["docs/index.md:1: it does not name docs/deep/b.md"])


class Comments(unittest.TestCase):
    def found(self, text):
        return [(line, what) for _, line, what in comments.check("shared/base/a.cpp", text)]

    def test_inverted_beginnings_of_blocks_are_found(self):
        for text in ["// What of it counts.", "// Of each peer, its rate.", "int x;  // of the larger one", "int x;  // as above",
                     "// Whoever calls waits.", "// The same for all.", "// Whom it asks.", "// Whose it is."]:
            self.assertEqual(len(self.found(text + "\n")), 1, text)
        for text in ["// It is what\n// of it counts.", "// Offsets of each.", "// What is it? A rate.", "/*of*/ int x;",
                     'auto x = "// What it is";', 'auto x = R"(\n// Of it\n)";', "// It holds\n// As long as this."]:
            self.assertEqual(self.found(text + "\n"), [], text)

    def test_inverted_sentences_within_a_block_are_found(self):
        self.assertEqual(self.found("int x;\n// A rate. What\n// it is, is known.\n"),
                         [(2, "no comment begins with 'What': subject, verb, object")])

    def test_phrases_are_found_over_two_lines(self):
        for phrase in ["so many", "anew", "in vain", "it is told", "can not", "who is there", "whom it is"]:
            self.assertEqual(self.found(f"// A peer {phrase}.\n"), [(1, f"'{phrase}': say it plainly")])
        self.assertEqual(len(self.found("  // It waits in\n  // vain.\n")), 1)
        self.assertEqual(self.found("const char* kText = \"in vain\";  // A text.\n"), [])

    def test_a_sentence_over_two_comments_is_found(self):
        self.assertEqual(len(self.found("int a;  // members that call, …\nint b;  // … all together\n")), 2)
        self.assertEqual(self.found('// Sent as "Bearer …".\n// "a", "b", … in order.\n'), [])

    def test_blocks_end_where_code_or_another_column_begins(self):
        text = "// A.\n// B.\nint x;  // C.\n        // D.\n// E.\n"
        self.assertEqual(cpp_source.comment_blocks(text), [(1, "A. B."), (3, "C. D."), (5, "E.")])


if __name__ == "__main__":
    unittest.main()
