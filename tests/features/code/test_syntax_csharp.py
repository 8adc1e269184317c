"""C# as the syntax adapter reads it."""

from __future__ import annotations

from syntax_outline import imports, outline, parsed, spanned

CSHARP = '''\
// using Ghosts;
#region don't stop
using System;
using static Shop.Tools.Maths;
using Price = Shop.Models.Money;
using Pair = System.Tuple<int, Ghosts>;
global using global::Shop.Tools;

namespace Shop.Web.Pages;

/// A page.
[Serializable, Route("x")]
public partial class Home<T> : Base, IPage where T : class
{
    string a = "using Ghosts;";
    string b = @"using ""Ghosts;
class Ghost { }";
    string c = $"x {y["using Ghosts;"]} z";
    string d = """
class Ghost { }
""";
    char e = '"';

    public Home(int size) : base(size) { }
    ~Home() { }
    public int Size { get; set; }
    [Test]
    public async Task<int> Find<U>(int from, params string[] names) where U : new()
    {
        void Local() { }
        using var file = Open();
        return 1;
    }
    public static Home<T> operator +(Home<T> a, Home<T> b) => a;
    public static implicit operator int(Home<T> a) => 1;
    delegate int Picks(int x);
    struct Point { }
    record Pair(int Left, string Right);
    enum Kind { One, Two }
    abstract void Later();
}

interface IPage { void Show(); }
'''


def test_csharp_definitions_are_what_runs_or_holds_members() -> None:
    assert outline("csharp", CSHARP) == [
        "11-41@13 class Home | public partial class Home<T> : Base, IPage where T : class | A page.",
        "24-24@24 method Home.Home | public Home(int size) : base(size)",
        "25-25@25 method Home.Home | ~Home()",
        "27-33@28 method Home.Find | public async Task<int> Find<U>(int from, params string[] names)"
        " where U : new()",
        "30-30@30 function Home.Find.Local | void Local()",
        "34-34@34 method Home.+ | public static Home<T> operator +(Home<T> a, Home<T> b)",
        "35-35@35 method Home.operator int | public static implicit operator int(Home<T> a)",
        "36-36@36 type Home.Picks | delegate int Picks(int x)",
        "37-37@37 struct Home.Point | struct Point",
        "38-38@38 class Home.Pair | record Pair(int Left, string Right)",
        "39-39@39 enum Home.Kind | enum Kind",
        "40-40@40 method Home.Later | abstract void Later()",
        "43-43@43 interface IPage | interface IPage",
        "43-43@43 method IPage.Show | void Show()",
    ]


def test_csharp_type_usings_are_distinguished_from_namespace_usings() -> None:
    assert imports("csharp", CSHARP) == [
        "3 System",
        "4 type Shop.Tools.Maths",
        "5 type Shop.Models.Money Price",
        "6 type System.Tuple<int, Ghosts> Pair",
        "7 global::Shop.Tools",
    ]
    assert parsed("csharp", CSHARP).package == "Shop.Web.Pages"


def test_csharp_strings_of_every_kind_are_known() -> None:
    comments, strings = spanned("csharp", CSHARP)
    assert comments == ["// using Ghosts;", "/// A page."]
    assert [each[:3] for each in strings] == ['"x"', '"us', '@"u', '$"x', '"""', "'\"'"]
