"""What every file of the small projects imports, language by language: nothing more and nothing less.

The projects are full of traps: commented imports, imports in strings, templates, here-documents and regular
expressions, names that lead out of the root, and files called `ghost` that nothing real imports.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from import_projects import LANGUAGES, SYNTAX, imported, plant, project

from context_pack.code.reading import FileReader, ReadFile
from context_pack.kernel.errors import Failure
from context_pack.kernel.paths import PathPolicy
from context_pack_adapters.source.tree import DiskSourceTree

EXPECTED: dict[str, dict[str, tuple[list[str], list[str]]]] = {
    "c_family": {
        "src/main.cpp": (
            [
                "config.h",
                "include/shop/order.hpp",
                "src/after.h",
                "src/engine/core.h",
                "src/local.h",
                "src/win/path.h",
            ],
            ["missing.h", "sys/types.h", "vector"],
        ),
        "src/engine/core.c": (
            ["include/shop/order.hpp", "src/engine/core.h"],
            [],
        ),
        "include/shop/order.hpp": (
            ["include/shop/detail.hpp"],
            [],
        ),
        "ios/View.m": (
            ["ios/View.h"],
            ["Foundation", "UIKit/UIKit.h"],
        ),
    },
    "csharp": {
        "src/Shop.Web/Program.cs": (
            ["src/Shop.Web/Pages/Home.cs"],
            [],
        ),
        "src/Shop.Web/Pages/Home.cs": (
            [
                "src/Shop.Core/Models/Money.cs",
                "src/Shop.Core/Models/Order.cs",
                "src/Shop.Core/Tools/Maths.cs",
            ],
            ["System", "System.Collections.Generic", "System.Tuple"],
        ),
        "solo/Models/Item.cs": (
            ["solo/Services/Cart.cs"],
            [],
        ),
    },
    "go": {
        "main.go": (
            [
                "libs/money/coins/coins.go",
                "orders/more_linux.go",
                "orders/orders.go",
                "pricing/pricing.go",
                "raw/raw.go",
            ],
            ["example.com/far/away", "example.com/shop/nothing", "fmt", "github.com/lib/pq", "os"],
        ),
        "orders/orders.go": (
            ["pricing/pricing.go"],
            [],
        ),
        "orders/orders_test.go": (
            ["orders/more_linux.go", "orders/orders.go"],
            [],
        ),
        "libs/money/coins/coins.go": (
            ["orders/more_linux.go", "orders/orders.go"],
            [],
        ),
        "work/a/a.go": (
            ["work/b/inner/inner.go"],
            [],
        ),
    },
    "javascript": {
        "src/main.tsx": (
            [
                "src/api.ts",
                "src/components/Button.tsx",
                "src/components/Card/index.tsx",
                "src/env.d.ts",
                "src/everything/index.js",
                "src/in-attribute.ts",
                "src/in-template.ts",
                "src/last.ts",
                "src/lazy.ts",
                "src/legacy.js",
                "src/named.mts",
                "src/nested-template.ts",
                "src/only-types.d.ts",
                "src/reexported.ts",
                "src/styles.css",
                "src/themes/dark.ts",
                "src/types.ts",
                "src/util/shared.ts",
            ],
            ["./missing", "node:path", "react"],
        ),
        "src/api.ts": (
            ["src/data.json"],
            ["./logo.svg"],
        ),
        "src/types.ts": (
            ["src/main.tsx"],
            [],
        ),
        "src/legacy.js": (
            ["src/api.ts", "src/index.ts", "src/types.ts"],
            [],
        ),
        "src/index.ts": (
            ["src/api.ts"],
            [],
        ),
        "src/components/Card/index.tsx": (
            ["src/components/Button.tsx", "src/index.ts"],
            ["../../../../outside"],
        ),
        "src/named.mts": (
            ["src/native.mts"],
            [],
        ),
        "src/App.vue": (
            ["src/components/Card/index.tsx", "src/types.ts"],
            [],
        ),
        "src/Widget.svelte": (
            ["src/App.vue", "src/last.ts"],
            [],
        ),
        "packages/web/app/page.ts": (
            ["packages/web/app/widget.ts", "src/components/Card/index.tsx"],
            [],
        ),
        "plain/a.js": (
            ["plain/b.js", "plain/compiled.js"],
            [],
        ),
    },
    "jvm": {
        "core/src/main/java/com/shop/Order.java": (
            [
                "core/src/main/java/com/shop/Outer.java",
                "core/src/main/java/com/shop/pricing/Price.java",
                "core/src/main/java/com/shop/pricing/rules/A.java",
                "core/src/main/java/com/shop/pricing/rules/B.java",
                "core/src/main/java/com/shop/util/Constants.java",
                "core/src/main/java/com/shop/util/Maths.java",
            ],
            ["com.other.Library", "java.util.List", "org.junit.Test"],
        ),
        "core/src/main/java/com/shop/pricing/Price.java": (
            [
                "core/src/main/java/com/shop/Ghost.java",
                "core/src/main/java/com/shop/Order.java",
                "core/src/main/java/com/shop/Outer.java",
            ],
            [],
        ),
        "core/src/test/java/com/shop/OrderTest.java": (
            [
                "core/src/main/java/com/shop/Order.java",
                "core/src/main/kotlin/com/shop/tools/Helpers.kt",
                "core/src/main/kotlin/com/shop/tools/KotlinTool.kt",
            ],
            [],
        ),
        "core/src/main/kotlin/com/shop/tools/KotlinTool.kt": (
            [
                "core/src/main/java/com/shop/Order.java",
                "core/src/main/java/com/shop/pricing/rules/A.java",
                "core/src/main/java/com/shop/pricing/rules/B.java",
                "core/src/main/kotlin/com/shop/tools/Helpers.kt",
                "core/src/main/kotlin/com/shop/tools/in/Odd.kt",
            ],
            [],
        ),
        "web/src/main/kotlin/api/Routes.kt": (
            ["core/src/main/java/com/shop/Order.java", "web/src/main/kotlin/models/Page.kt"],
            ["com.shop.web.api.Missing"],
        ),
        "flat/Solo.java": (
            [],
            ["flat.Nothing"],
        ),
    },
    "php": {
        "src/Order.php": (
            [
                "config/app.php",
                "config/db.php",
                "legacy/Old.php",
                "older/Older.php",
                "src/Leading.php",
                "src/Pricing/Discount.php",
                "src/Pricing/Price.php",
                "src/Pricing/Rules/Fixed.php",
                "src/helpers.php",
                "src/late.php",
                "src/partial.php",
                "src/sibling.php",
            ],
            [
                "App\\Helpers\\money",
                "InvalidArgumentException",
                "Symfony\\Component\\Console\\Command",
                "missing.php",
            ],
        ),
        "src/Pricing/Price.php": (
            ["src/Order.php"],
            [],
        ),
        "tests/OrderTest.php": (
            ["src/Order.php", "tests/Support.php"],
            [],
        ),
    },
    "python": {
        "app/__init__.py": (
            ["app/orders.py"],
            [],
        ),
        "app/main.py": (
            [
                "app/__init__.py",
                "app/catalog/__init__.py",
                "app/catalog/books.py",
                "app/deep/deeper/deepest.py",
                "app/inside_class.py",
                "app/late.py",
                "app/matched.py",
                "app/orders.py",
                "app/pricing/discount.py",
                "app/pricing/rules.py",
                "app/settings.py",
            ],
            [".missing", "json", "numpy", "os.path", "tomli", "tomllib"],
        ),
        "app/orders.py": (
            ["app/main.py"],
            ["typing"],
        ),
        "app/matched.py": (
            [],
            ["...far", "..outside"],
        ),
        "app/pricing/__init__.py": (
            ["app/pricing/discount.py", "app/pricing/rules.py"],
            [],
        ),
        "app/pricing/rules.py": (
            ["app/pricing/__init__.py", "app/pricing/discount.py"],
            [],
        ),
        "app/catalog/books.py": (
            ["app/__init__.py"],
            [],
        ),
        "src/lib_in_src/core.py": (
            ["src/lib_in_src/__init__.py", "src/lib_in_src/typed.pyi"],
            [],
        ),
        "namespace/plugin.py": (
            ["namespace/other.py"],
            ["namespace", "namespace.unknown"],
        ),
        "scripts/run.py": (
            ["app/settings.py", "scripts/helper.py", "scripts/helper_package/tool.py"],
            ["logging"],
        ),
        "services/billing/tests/test_bill.py": (
            ["app/settings.py", "services/billing/src/billing/core.py"],
            [],
        ),
        "uses_both.py": (
            ["both/__init__.py"],
            [],
        ),
        "escapes.py": (
            ["app/settings.py"],
            [],
        ),
    },
    "ruby": {
        "lib/shop.rb": (
            [
                "lib/shop/catalog.rb",
                "lib/shop/late.rb",
                "lib/shop/order.rb",
                "lib/shop/price.rb",
                "lib/shop/version.rb",
            ],
            ["json", "shop/missing"],
        ),
        "lib/shop/order.rb": (
            ["lib/shop.rb"],
            [],
        ),
        "spec/spec_helper.rb": (
            ["lib/shop.rb"],
            [],
        ),
        "spec/models/order_spec.rb": (
            ["spec/spec_helper.rb"],
            ["rspec"],
        ),
        "gems/tax/lib/tax.rb": (
            ["gems/tax/lib/tax/rate.rb", "lib/shop.rb"],
            [],
        ),
    },
    "rust": {
        "src/lib.rs": (
            [
                "crates/money/src/coin.rs",
                "crates/money/src/lib.rs",
                "crates/shared-things/lib/thing.rs",
                "src/inline/child.rs",
                "src/inline/odd.rs",
                "src/orders/detail.rs",
                "src/orders/mod.rs",
                "src/platform/unix.rs",
                "src/pricing.rs",
                "src/tests.rs",
            ],
            ["log", "serde", "std"],
        ),
        "src/main.rs": (
            ["src/cli.rs", "src/lib.rs", "src/orders/mod.rs"],
            [],
        ),
        "src/cli.rs": (
            [],
            ["clap"],
        ),
        "src/tests.rs": (
            ["src/inline/child.rs", "src/lib.rs"],
            [],
        ),
        "src/orders/mod.rs": (
            ["src/lib.rs", "src/orders/detail.rs", "src/pricing.rs"],
            [],
        ),
        "src/orders/detail.rs": (
            ["src/orders/mod.rs", "src/pricing.rs"],
            [],
        ),
        "src/pricing.rs": (
            ["src/pricing/rules.rs"],
            [],
        ),
        "src/pricing/rules.rs": (
            ["src/pricing.rs"],
            [],
        ),
        "src/bin/tool.rs": (
            ["src/bin/helper.rs", "src/pricing.rs"],
            [],
        ),
        "tests/api.rs": (
            ["src/orders/detail.rs", "tests/common/mod.rs"],
            [],
        ),
        "tests/common/mod.rs": (
            ["src/lib.rs"],
            [],
        ),
        "crates/money/src/lib.rs": (
            ["crates/money/src/coin.rs"],
            [],
        ),
        "crates/shared-things/lib/entry.rs": (
            ["crates/shared-things/lib/thing.rs"],
            [],
        ),
        "broken/src/lib.rs": (
            [],
            ["gone"],
        ),
    },
}
UNPARSABLE = {"python": ["broken.py"]}


def test_every_language_has_a_sample_project_with_expected_imports() -> None:
    assert set(EXPECTED) == set(LANGUAGES)
    assert len(LANGUAGES) == 9


@pytest.mark.clause("CD-15", "CD-17")
@pytest.mark.parametrize("language", LANGUAGES)
def test_every_file_imports_exactly_what_it_says(language: str) -> None:
    files = project(language)
    for path in files:
        if path in UNPARSABLE.get(language, ()):
            continue
        found = imported(files, path)
        assert (path, found.paths, found.external) == (path, *EXPECTED[language].get(path, ([], [])))


@pytest.mark.clause("CD-15")
@pytest.mark.parametrize("language", LANGUAGES)
def test_decoy_names_of_the_sample_projects_are_never_imported(language: str) -> None:
    files = project(language)
    for path in files:
        if path not in UNPARSABLE.get(language, ()):
            names = " ".join((*imported(files, path).paths, *imported(files, path).external)).lower()
            assert "ghost" not in names or path.endswith("pricing/Price.java"), path


@pytest.mark.clause("CD-10")
@pytest.mark.parametrize("language", LANGUAGES)
def test_dependencies_are_other_files_of_the_project(language: str) -> None:
    files = project(language)
    for path in files:
        if path not in UNPARSABLE.get(language, ()):
            paths = imported(files, path).paths
            assert path not in paths
            assert set(paths) <= set(files)
            assert paths == sorted(set(paths))


@pytest.mark.clause("CD-15")
@pytest.mark.parametrize("language", LANGUAGES)
def test_the_tree_on_disk_gives_the_same_imports_as_the_one_in_memory(language: str, tmp_path: Path) -> None:
    files = project(language)
    plant(files, tmp_path)
    reader = FileReader(DiskSourceTree(tmp_path, PathPolicy()), SYNTAX)
    for path in files:
        if path in UNPARSABLE.get(language, ()):
            with pytest.raises(Failure):
                reader.read(ReadFile(path=path, include_deps=True))
            continue
        read = reader.read(ReadFile(path=path, include_deps=True))
        known = imported(files, path)
        assert [each.path for each in read.dependencies] == known.paths
        assert list(read.external or ()) == known.external
