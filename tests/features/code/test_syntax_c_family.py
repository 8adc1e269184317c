"""C, C++ and Objective-C as the syntax adapter reads them."""

from __future__ import annotations

import pytest
from syntax_outline import imports, outline, parsed, spanned

C = r"""/* Sold under terms. */
#include <stdio.h>
#include "order.h" // beside us
#include MACRO_HEADER

/* Twice. */
#define TWICE(x) \
    ((x) + (x))
#define LIMIT 10

static int next(int n);

#ifdef WINDOWS
static int next(int n) { return n; }
#else
static int
next(int n)
{
    return n + 1;
}
#endif

#if 0
#include "dead.h"
int dead(void) { return 0; }
#else
int living(void) { return 0; }
#endif

/** Makes a node. */
__attribute__((noinline)) struct node *make(int size, const char *name) { return 0; }
int (*handler(int n))(int) { return 0; }
TEST(adds) { check(); }
int elsewhere(const char *name);

struct node { struct node *next; };
typedef struct pair { int left; } pair_t;
typedef struct { int value; } box_t;
typedef int (*callback_t)(int);
union any { int a; };
enum color { RED, GREEN };
static const char *names[] = { "int ghost(void) {", "b" };
char quote = '"';
"""


def test_c_functions_are_found_under_pointers_macros_and_conditions() -> None:
    assert outline("c", C) == [
        r"6-8@7 macro TWICE | #define TWICE(x) | Twice.",
        "14-14@14 function next | static int next(int n)",
        "16-20@17 function next | static int next(int n)",
        "27-27@27 function living | int living(void)",
        "30-31@31 function make | struct node *make(int size, const char *name) | Makes a node.",
        "32-32@32 function handler | int (*handler(int n))(int)",
        "33-33@33 function adds | TEST(adds)",
        "34-34@34 function elsewhere | int elsewhere(const char *name)",
        "36-36@36 struct node | struct node",
        "37-37@37 type pair_t | typedef struct pair pair_t",
        "37-37@37 struct pair | struct pair",
        "38-38@38 struct box_t | typedef struct box_t",
        "39-39@39 type callback_t | typedef int (*callback_t)(int)",
        "40-40@40 struct any | union any",
        "41-41@41 enum color | enum color",
        "42-42@42 constant names | static const char *names[]",
        "43-43@43 constant quote | char quote",
    ]


def test_c_includes_are_listed_as_written_without_dead_ones() -> None:
    assert imports("c", C) == ["2 <stdio.h>", "3 order.h"]
    assert imports("c", 'struct row rows[] = {\n#include "rows.inc"\n};\n') == ["2 rows.inc"]
    assert parsed("c", C).heads == ("Sold under terms.",)


def test_c_strings_are_known() -> None:
    comments, strings = spanned("c", C)
    assert comments[1:3] == ["// beside us", "/* Twice. */"]
    assert strings == ['"order.h"', '"dead.h"', '"int ghost(void) {"', '"b"', "'\"'"]


@pytest.mark.parametrize(
    ("condition", "living"),
    [("0", "no"), ("(0)", "no"), ("1", "yes"), ("(1)", "yes"), ("A", "yes no"), ("defined(A)", "yes no")],
)
def test_only_conditions_that_are_certain_leave_code_out(condition: str, living: str) -> None:
    text = f"#if {condition}\nvoid yes(void);\n#else\nvoid no(void);\n#endif\n"
    names = [each.name for each in parsed("c", text).definitions]
    assert names == (["no"] if living == "no" else living.split())


CPP = """\
#include <vector>
#include "box.h"

namespace shop::inner {

/// A box.
template <typename T, int N = 3>
class [[nodiscard]] Box final : public Base<T> {
 public:
  explicit Box(int size) : size_(size), name_{"b"} {}
  Box(const Box&) = delete;
  virtual ~Box() { clear(); }
  virtual int size() const noexcept = 0;
  T& at(int n) const & { return items_[n]; }
  operator bool() const { return true; }
  Box& operator=(const Box& other);
  static auto make() -> Box { return Box(1); }
  // Any.
  template <class U>
  void put(U item) { auto f = [](int x) { return x; }; Item local(item); }
  struct Item { void touch() {} };
  enum class Kind : int { A, B };
  int size_;
};

constexpr int kLimit = 1'000;
}  // namespace shop::inner

template <typename T>
Box<T>& shop::Box<T>::operator=(const Box& other) { return *this; }
shop::Box::~Box() {}
std::vector<int>* Outer::Inner::all(int n) { return nullptr; }
using Names = std::vector<std::string>;
extern "C" int plain(void) { return 1; }
const char* raw = R"x(
int ghost() { return 1; }
)" )x";
"""


def test_cpp_members_have_their_owners_wherever_they_are_written() -> None:
    assert outline("cpp", CPP) == [
        "6-24@8 class Box | template <typename T, int N = 3> class [[nodiscard]] Box final : public Base<T>"
        " | A box.",
        "10-10@10 method Box.Box | explicit Box(int size)",
        "11-11@11 method Box.Box | Box(const Box&)",
        "12-12@12 method Box.~Box | virtual ~Box()",
        "13-13@13 method Box.size | virtual int size() const noexcept = 0",
        "14-14@14 method Box.at | T& at(int n) const &",
        "15-15@15 method Box.operator bool | operator bool() const",
        "17-17@17 method Box.make | static auto make() -> Box",
        "18-20@20 method Box.put | template <class U> void put(U item) | Any.",
        "21-21@21 struct Box.Item | struct Item",
        "21-21@21 method Box.Item.touch | void touch()",
        "22-22@22 enum Box.Kind | enum class Kind : int",
        "26-26@26 constant kLimit | constexpr int kLimit",
        "29-30@30 method Box.operator= | template <typename T> Box<T>& shop::Box<T>::operator="
        "(const Box& other)",
        "31-31@31 method Box.~Box | shop::Box::~Box()",
        "32-32@32 method Inner.all | std::vector<int>* Outer::Inner::all(int n)",
        "33-33@33 type Names | using Names = std::vector<std::string>",
        '34-34@34 function plain | extern "C" int plain(void)',
        "35-37@35 constant raw | const char* raw",
    ]


def test_cpp_raw_strings_are_strings() -> None:
    assert spanned("cpp", CPP)[1][-1].startswith('R"x(\nint ghost')
    assert imports("cpp", CPP) == ["1 <vector>", "2 box.h"]


OBJECTIVE_C = """\
#import "View.h"
#import <UIKit/UIKit.h>
@import Foundation.NSArray;

@interface View ()
- (void)hidden;
@end

/** Something to open. */
@protocol Opens <NSObject>
- (int)open;
@end

@implementation View {
    int _count;
}
/// Draws it.
- (void)draw { NSString *text = @"- (void)ghost { }"; }
+ (instancetype)viewWithName:(NSString *)name size:(int)size { return nil; }
@end

@implementation View (Extra)
- (void)extra { }
@end

typedef NS_ENUM(NSInteger, Kind) {
    KindA = 0,
};

int plain(void) { return 0; }
"""


def test_objective_c_methods_belong_to_their_classes_and_categories() -> None:
    assert [each for each in outline("objectivec", OBJECTIVE_C) if "Kind" not in each] == [
        "6-6@6 method View.hidden | - (void)hidden",
        "9-12@10 interface Opens | @protocol Opens | Something to open.",
        "11-11@11 method Opens.open | - (int)open",
        "14-20@14 class View | @implementation View",
        "17-18@18 method View.draw | - (void)draw | Draws it.",
        "19-19@19 method View.viewWithName | + (instancetype)viewWithName:(NSString *)name size:(int)size",
        "23-23@23 method View.extra | - (void)extra",
        "30-30@30 function plain | int plain(void)",
    ]
    assert "26-26@26 enum Kind" in "\n".join(outline("objectivec", OBJECTIVE_C))
    assert imports("objectivec", OBJECTIVE_C) == [
        "1 View.h",
        "2 <UIKit/UIKit.h>",
        "3 module @import Foundation.NSArray;",
    ]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("namespace a {\nclass Box { public: int size() const { return 1; } };\n}\n", "Box.size"),
        ("@interface Box : NSObject\n- (int)size;\n@end\n", "Box.size"),
    ],
)
def test_a_header_is_read_as_the_language_it_is(text: str, name: str) -> None:
    assert name in [each.qualified for each in parsed("c", text).definitions]


def test_a_test_that_a_macro_makes_has_its_own_name() -> None:
    tests = "// Adds.\nTEST_F(CartTest, adds) {\n  check();\n}\nTEST(Money, double) { }\nTEST(plain) { }\n"
    assert outline("cpp", f"{tests}void TEST_ME(A, B) {{ }}\n") == [
        "1-4@2 method CartTest.adds | TEST_F(CartTest, adds) | Adds.",
        "5-5@5 method Money.double | TEST(Money, double)",
        "6-6@6 function plain | TEST(plain)",
        "7-7@7 function TEST_ME | void TEST_ME(A, B)",
    ]
