"""Imports among packages of one repository, traits of PHP classes, and what C leaves out by `#if 0`."""

from __future__ import annotations

import json

import pytest
from import_projects import imported

SHOP = {
    "package.json": json.dumps({"private": True, "workspaces": ["packages/*", "apps/web", "tools/**"]}),
    "packages/utils/package.json": json.dumps({"name": "@shop/utils", "main": "dist/index.js"}),
    "packages/utils/src/index.ts": "",
    "packages/utils/src/money.ts": "",
    "packages/utils/dist/index.js": "",
    "packages/ui/package.json": json.dumps(
        {
            "name": "shop-ui",
            "exports": {
                ".": {"import": "./lib/main.mjs", "default": "./lib/main.cjs"},
                "./buttons/*": "./lib/buttons/*.js",
                "./secret": "../../outside.ts",
            },
        }
    ),
    "packages/ui/lib/main.mjs": "",
    "packages/ui/lib/buttons/round.ts": "",
    "packages/broken/package.json": "{",
    "tools/deep/lint/package.json": json.dumps({"name": "lint-rules"}),
    "tools/deep/lint/index.js": "",
    "outside.ts": "",
}


def from_app(*names: str) -> list[str]:
    text = "".join(f"import {json.dumps(name)};\n" for name in names)
    return imported({**SHOP, "apps/web/app.ts": text}, "apps/web/app.ts").paths


@pytest.mark.clause("CD-17")
@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("@shop/utils", "packages/utils/src/index.ts"),
        ("@shop/utils/money", "packages/utils/src/money.ts"),
        ("shop-ui", "packages/ui/lib/main.mjs"),
        ("shop-ui/buttons/round", "packages/ui/lib/buttons/round.ts"),
    ],
)
def test_a_package_of_the_same_workspace_resolves_to_its_files(name: str, path: str) -> None:
    assert from_app(name) == [path]


@pytest.mark.clause("CD-17")
@pytest.mark.parametrize(
    "name", ["react", "@shop", "@shop/", "@shop/none", "shop-ui/secret", "node:fs", "#x", "/"]
)
def test_names_outside_the_workspace_stay_external(name: str) -> None:
    assert from_app(name) == []


PHP = r"""<?php
namespace App\Models;

use App\Traits\HasTags as Tags;
use App\Contracts\{Named, Dated};

class Post extends Model implements Named
{
    use Tags, SoftDeletes {
        SoftDeletes::boot insteadof Tags;
    }
    use \Vendor\Kit\Counts, Concerns\Sorts;
    use namespace\Local;

    public function each(array $items): void
    {
        array_map(function ($item) use ($items) { return $item; }, $items);
    }
}
"""


@pytest.mark.clause("CD-17")
def test_the_traits_of_a_class_count_by_their_full_names_where_there_is_a_file() -> None:
    files = {
        "composer.json": json.dumps({"autoload": {"psr-4": {"App\\": "app/", "Vendor\\Kit\\": "kit/"}}}),
        "app/Models/Post.php": PHP,
        "app/Models/SoftDeletes.php": "<?php",
        "app/Traits/HasTags.php": "<?php",
        "app/Models/Concerns/Sorts.php": "<?php",
        "app/Models/Local.php": "<?php",
        "kit/Counts.php": "<?php",
    }
    found = imported(files, "app/Models/Post.php")
    assert found.paths == [
        "app/Models/Concerns/Sorts.php",
        "app/Models/Local.php",
        "app/Models/SoftDeletes.php",
        "app/Traits/HasTags.php",
        "kit/Counts.php",
    ]
    assert found.external == ["App\\Contracts\\Dated", "App\\Contracts\\Named"]


C = """\
#include "a.h"
#if 0
#include "dead.h"
#ifdef X
#include "dead2.h"
#else
#include "dead3.h"
#endif
#else
#include "b.h"
#endif
#if 1
#  include "c.h"
#elif 1
#include "dead4.h"
#else
#include "dead5.h"
#endif
#ifdef WINDOWS
#include "d.h"
#elif 0
#include "dead6.h"
#else
#include "e.h"
#endif
#if (0) // never
#include "dead7.h"
#endif
#endif
#include "f.h"
#if 0
it's a remark
#include "dead8.h"
"""


@pytest.mark.clause("CD-17")
def test_includes_inside_if_0_are_not_imports() -> None:
    living = {f"{name}.h": "" for name in "abcdef"}
    dead = {f"dead{number}.h": "" for number in ("", *range(2, 9))}
    for text in (C, C.replace("\n", "\r\n")):
        assert imported({**living, **dead, "x.c": text}, "x.c").paths == sorted(living)


@pytest.mark.clause("CD-17")
def test_a_package_is_known_by_its_name_wherever_it_is_in_the_tree() -> None:
    assert from_app("lint-rules") == ["tools/deep/lint/index.js"]


@pytest.mark.clause("CD-17")
def test_a_package_knows_its_own_name_and_its_private_ones() -> None:
    own = {
        "name": "me",
        "exports": {"./x": "./src/x.js"},
        "imports": {"#db/*": "./src/db/*.js", "#out": "../y"},
    }
    files = {"a/package.json": json.dumps(own), "a/src/x.js": "", "a/src/db/main.ts": "", "y.js": ""}
    files["a/test/t.ts"] = 'import "me/x"; import "#db/main"; import "#out"; import "#none";'
    found = imported(files, "a/test/t.ts")
    assert found.paths == ["a/src/db/main.ts", "a/src/x.js"]
    assert found.external == ["#none", "#out"]


@pytest.mark.clause("CD-17")
@pytest.mark.parametrize("name", ["./config/base", "./config/base.json"])
def test_tsconfig_paths_that_are_extended_by_path_start_where_they_stand(name: str) -> None:
    paths = {"@/*": ["../lib/*"], "~/*": ["${configDir}/src/*"]}
    files = {
        "config/base.json": json.dumps({"compilerOptions": {"paths": paths}}),
        "tsconfig.json": json.dumps({"extends": name}),
        "lib/x.ts": "",
        "src/y.ts": "",
        "a.ts": 'import "@/x"; import "~/y";\n',
    }
    assert imported(files, "a.ts").paths == ["lib/x.ts", "src/y.ts"]


@pytest.mark.clause("CD-17")
def test_go_packages_of_a_nested_foreign_module_are_external() -> None:
    files = {
        "go.mod": "module example.com/shop",
        "a.go": 'package a\nimport (\n"example.com/shop/tools/gen"\n"example.com/shop/api/v1"\n)',
        "tools/go.mod": "module example.com/other",
        "tools/gen/gen.go": "package gen",
        "api/go.mod": "module example.com/shop/api",
        "api/v1/v1.go": "package v1",
    }
    found = imported(files, "a.go")
    assert found.paths == ["api/v1/v1.go"]
    assert found.external == ["example.com/shop/tools/gen"]


@pytest.mark.clause("CD-17")
def test_platform_specific_rust_imports_are_found() -> None:
    files = {
        "app/Cargo.toml": '[package]\nname = "a"\n[target."cfg(unix)".dependencies]\nlow = {path = "../low"}',
        "app/src/lib.rs": '#[cfg_attr(windows, path = "win.rs")]\n#[cfg_attr(unix, path = "nix.rs")]\n'
        "mod os; use low::Level;",
        "app/src/win.rs": "",
        "app/src/nix.rs": "",
        "low/Cargo.toml": '[package]\nname = "low"\n',
        "low/src/lib.rs": "",
    }
    found = imported(files, "app/src/lib.rs")
    assert found.paths == ["app/src/nix.rs", "app/src/win.rs", "low/src/lib.rs"]
    assert found.external == []


@pytest.mark.clause("CD-17")
def test_an_imported_module_of_java_is_external() -> None:
    files = {"A.java": "import module java.base;\nimport module.b.C;\n", "module/b/C.java": ""}
    found = imported(files, "A.java")
    assert (found.paths, found.external) == (["module/b/C.java"], ["java.base"])


@pytest.mark.clause("CD-17")
def test_a_header_that_is_nowhere_above_is_the_nearest_that_ends_so() -> None:
    files = {
        "app/main.cpp": '#include "json.h"\n#include "kin/old.h"\n#include "none.h"\n#include <json.h>\n',
        "app/vendor/json/json.h": "",
        "third_party/json/json.h": "",
        "third_party/kin/old.h": "",
        "third_party/old.h": "",
    }
    found = imported(files, "app/main.cpp")
    assert found.paths == ["app/vendor/json/json.h", "third_party/kin/old.h"]
    assert found.external == ["json.h", "none.h"]


@pytest.mark.clause("CD-17")
def test_of_a_multiplatform_class_the_common_file_is_meant() -> None:
    files = {
        f"lib/src/{each}Main/kotlin/io/Bytes.kt": "package io\nclass Bytes\n"
        for each in ("apple", "common", "jvm")
    }
    files["lib/src/commonTest/kotlin/io/BytesTest.kt"] = "package io\nimport io.Bytes\nimport io.of\n"
    files["lib/src/jvmMain/kotlin/io/Files.kt"] = "package io\nimport io.Bytes\n"
    files["lib/src/commonMain/kotlin/io/Tools.kt"] = "package io\ninline fun <T> Iterable<T>.of() = 1\n"
    test = imported(files, "lib/src/commonTest/kotlin/io/BytesTest.kt")
    common = "lib/src/commonMain/kotlin/io"
    assert (test.paths, test.external) == ([f"{common}/Bytes.kt", f"{common}/Tools.kt"], [])
    assert imported(files, "lib/src/jvmMain/kotlin/io/Files.kt").paths == [
        "lib/src/jvmMain/kotlin/io/Bytes.kt"
    ]


@pytest.mark.clause("CD-17")
def test_of_a_namespace_the_files_count_whose_names_are_used() -> None:
    files = {
        "src/Shop/Models/Order.cs": "namespace Shop.Models;",
        "src/Shop/Models/Money.cs": "namespace Shop.Models;",
        "src/Shop/Web/Home.cs": "using Shop.Models;\nusing System;\nnamespace Shop.Web;\nclass A : Order {}",
    }
    found = imported(files, "src/Shop/Web/Home.cs")
    assert (found.paths, found.external) == (["src/Shop/Models/Order.cs"], ["System"])


@pytest.mark.clause("CD-17")
@pytest.mark.parametrize(
    ("use", "main", "path"),
    [
        ("test/t.js", "./lib/main", "lib/main.js"),
        ("test/t.js", "lib", "lib/index.js"),
        ("test/t.js", "./nowhere", "index.js"),
        ("test/t.js", ".", "index.js"),
        ("test/t.js", "../out.js", "index.js"),
        ("test/t.ts", "./lib/main.js", "types.d.ts"),
    ],
)
def test_a_required_folder_resolves_by_its_package_json(use: str, main: str, path: str) -> None:
    files = {f"pkg/{name}": "" for name in ("lib/main.js", "lib/index.js", "index.js", "types.d.ts")}
    files["pkg/package.json"] = json.dumps(
        {"main": main, "types": "types" if use.endswith(".ts") else "none"}
    )
    files |= {"out.js": "", f"pkg/{use}": "require('../')"}
    assert imported(files, f"pkg/{use}").paths == [f"pkg/{path}"]


@pytest.mark.clause("CD-17")
def test_declaration_files_resolve_ts_imports_to_sources_or_declarations() -> None:
    files = {"a.d.ts": 'import "./b.ts"; import "./c.mts"; import "./d.ts"; import "./e.ts";'}
    files |= {"b.d.ts": "", "c.d.mts": "", "d.ts": "", "d.d.ts": "", "e.tsx": ""}
    assert imported(files, "a.d.ts").paths == ["b.d.ts", "c.d.mts", "d.ts", "e.tsx"]


@pytest.mark.clause("CD-17")
def test_kotlin_packages_are_what_the_files_say_whatever_their_folders_are_called() -> None:
    files = {
        "core/common/src/Flow.kt": "package kotlinx.shop.flow\n\npublic interface Flow\n",
        "core/common/src/Builders.kt": "package kotlinx.shop.flow\n\npublic fun <T> flow(): Flow = TODO()\n",
        "core/common/test/FlowTest.kt": "package kotlinx.shop.flow\n\nclass FlowTest\n",
        "guava/src/Use.kt": "package kotlinx.shop.guava\n\nimport kotlinx.shop.flow.*\n",
        "guava/src/One.kt": "import kotlinx.shop.flow.flow\nimport kotlinx.shop.flow.Flow.Companion\n",
    }
    both = ["core/common/src/Builders.kt", "core/common/src/Flow.kt"]
    assert imported(files, "guava/src/Use.kt").paths == both
    assert imported(files, "guava/src/One.kt").paths == both
