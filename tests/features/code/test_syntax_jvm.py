"""Java, Kotlin and Scala as the syntax adapter reads them."""

from __future__ import annotations

from syntax_outline import imports, outline, parsed, spanned

from context_pack_adapters.syntax.tree_sitter_syntax import TreeSitterSyntax

JAVA = '''\
/* Sold under terms. */
package com.shop.app;

import java.util.List;
import static com.shop.Maths.max;
import static com.shop.Limits.*;
import com.shop.rules.*;
import com. /* far */ shop
    .Order;

/** Keeps orders. */
@Entity("x") @Table
public abstract class Desk<T extends List<T>> extends Base implements Open, Close {
    private static final String TEXT = """
        import com.shop.Ghost;
        class Ghost { }
        """;
    char quote = '"';

    static { start(); }

    /** Makes one. */
    @Inject
    public Desk(int size) throws Full { super(size); }

    @Override public <U> List<U> find(final int from,
            String... names) { class Local { void inner() { } } return null; }

    abstract void later();

    enum Kind implements Named { ONE { void only() { } }, TWO; int size() { return 1; } }

    interface Open { default void open() { } }
    record Pair(int left, String right) { Pair { check(left); } }
    @interface Mark { }
}
'''


def test_java_definitions_have_their_annotations_documentation_and_signatures() -> None:
    assert outline("java", JAVA) == [
        "11-36@13 class Desk | public abstract class Desk<T extends List<T>> extends Base implements Open, "
        "Close | Keeps orders.",
        "22-24@24 method Desk.Desk | public Desk(int size) throws Full | Makes one.",
        "26-27@26 method Desk.find | public <U> List<U> find(final int from, String... names)",
        "27-27@27 class Desk.find.Local | class Local",
        "27-27@27 method Desk.find.Local.inner | void inner()",
        "29-29@29 method Desk.later | abstract void later()",
        "31-31@31 enum Desk.Kind | enum Kind implements Named",
        "31-31@31 method Desk.Kind.only | void only()",
        "31-31@31 method Desk.Kind.size | int size()",
        "33-33@33 interface Desk.Open | interface Open",
        "33-33@33 method Desk.Open.open | default void open()",
        "34-34@34 class Desk.Pair | record Pair(int left, String right)",
        "34-34@34 method Desk.Pair.Pair | Pair",
        "35-35@35 interface Desk.Mark | @interface Mark",
    ]


def test_java_imports_are_listed_as_written() -> None:
    assert imports("java", JAVA) == [
        "4 java.util.List",
        "5 static com.shop.Maths.max",
        "6 static com.shop.Limits *",
        "7 com.shop.rules *",
        "8 com.  shop\n    .Order",
    ]
    found = parsed("java", JAVA)
    assert (found.package, found.heads, found.error_line) == ("com.shop.app", ("Sold under terms.",), None)


def test_java_comments_and_strings_are_known() -> None:
    comments, strings = spanned("java", JAVA)
    assert comments == ["/* Sold under terms. */", "/* far */", "/** Keeps orders. */", "/** Makes one. */"]
    assert [each[:4] for each in strings] == ['"x"', '"""\n', "'\"'"]


KOTLIN = '''\
@file:JvmName("Tools")
package com.shop.tools.`in`

import com.shop.Order as TheOrder
import com.shop.rules.*
/* /* nested */ import com.shop.Ghost */

/** A place. */
@Serializable
data class Place<T : Any>(val x: Int) : Base(), Named by other where T : Comparable<T> {
    constructor(x: String) : this(x.toInt()) { log() }

    companion object {
        fun make() = Place<Int>(1)
    }

    override suspend fun <R> find(from: Int, test: (Int) -> Boolean): R? {
        fun local() = 1
        return null
    }

    abstract fun later(): Int
}

enum class Kind(val value: Int) {
    ONE(1), TWO(2);
    fun next() = ONE
}

fun interface Opens {
    fun open()
}

object Desk : Base()

typealias Names = List<String>

internal inline fun <T : Any> List<T>.second(): T = get(1)
fun kotlin.String?.size() = 0
val String.half: Int get() = length / 2
const val TEXT = "import ${com.shop.Ghost} $x"
val raw = """
    fun ghost() { ${1} }
"""

fun `with blanks`() {}
'''


def test_kotlin_definitions_know_receivers_companions_and_raw_strings() -> None:
    assert outline("kotlin", KOTLIN) == [
        "8-23@10 class Place | data class Place<T : Any>(val x: Int) : Base(), Named by other"
        " where T : Comparable<T> | A place.",
        "11-11@11 method Place.constructor | constructor(x: String) : this(x.toInt())",
        "14-14@14 method Place.make | fun make()",
        "17-20@17 method Place.find | override suspend fun <R> find(from: Int, test: (Int) -> Boolean): R?",
        "18-18@18 function Place.find.local | fun local()",
        "22-22@22 method Place.later | abstract fun later(): Int",
        "25-28@25 enum Kind | enum class Kind(val value: Int)",
        "27-27@27 method Kind.next | fun next()",
        "30-32@30 interface Opens | fun interface Opens",
        "31-31@31 method Opens.open | fun open()",
        "34-34@34 class Desk | object Desk : Base()",
        "36-36@36 type Names | typealias Names = List<String>",
        "38-38@38 method List.second | internal inline fun <T : Any> List<T>.second(): T",
        "39-39@39 method String.size | fun kotlin.String?.size()",
        "40-40@40 constant half | val String.half: Int",
        "41-41@41 constant TEXT | const val TEXT",
        "42-44@42 constant raw | val raw",
        "46-46@46 function `with blanks` | fun `with blanks`()",
    ]


def test_kotlin_imports_comments_and_strings_are_known() -> None:
    assert imports("kotlin", KOTLIN) == ["4 com.shop.Order", "5 com.shop.rules *"]
    assert parsed("kotlin", KOTLIN).package == "com.shop.tools.`in`"
    comments, strings = spanned("kotlin", KOTLIN)
    assert comments == ["/* /* nested */ import com.shop.Ghost */", "/** A place. */"]
    assert [each[:9] for each in strings] == ['"Tools"', '"import $', '"""\n    f']


def test_a_syntax_error_hides_only_the_code_around_it() -> None:
    text = "package a\nimport a.B\nclass A { companion object { fun ( } }\n" + "fun g() {\n x()\n}\n" * 9
    found = parsed("kotlin", text)
    assert [each.specifier for each in found.imports] == ["a.B"]
    assert found.error_line == 3


def test_declarations_on_lines_that_the_grammar_cannot_read_are_definitions() -> None:
    text = (
        "fun broken( = 3\nclass Half { (\n\npublic interface Channel<E> : Send<E> {\n    fun send(e: E)\n}\n"
    )
    names = {
        each.qualified: (each.start, each.end)
        for each in TreeSitterSyntax().parse("kotlin", text).definitions
    }
    assert names["Channel"] == (4, 6)
    assert "Channel.send" in names
