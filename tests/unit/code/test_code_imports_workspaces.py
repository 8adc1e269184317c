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


@pytest.mark.clause("CD-18")
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


@pytest.mark.clause("CD-18")
@pytest.mark.parametrize(
    "name", ["react", "@shop", "@shop/", "@shop/none", "shop-ui/secret", "node:fs", "#x", "/"]
)
def test_names_outside_the_workspace_stay_external(name: str) -> None:
    assert from_app(name) == []


@pytest.mark.clause("CD-18")
@pytest.mark.parametrize(
    "workspaces", [{"packages": ["packages/*"]}, ["packages/utils"], ["./packages/*", "!packages/ui"]]
)
def test_workspaces_may_be_a_list_or_an_object(workspaces: object) -> None:
    files = {**SHOP, "package.json": json.dumps({"workspaces": workspaces}), "a.ts": 'import "@shop/utils";'}
    assert imported(files, "a.ts").paths == ["packages/utils/src/index.ts"]


@pytest.mark.clause("CD-18")
@pytest.mark.parametrize("workspaces", ["packages/*", [1, None], ["../*"], {"packages": 1}, [["packages/*"]]])
def test_malformed_workspaces_resolve_no_import(workspaces: object) -> None:
    files = {**SHOP, "package.json": json.dumps({"workspaces": workspaces}), "a.ts": 'import "@shop/utils";'}
    assert imported(files, "a.ts").paths == []


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


@pytest.mark.clause("CD-24")
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


@pytest.mark.clause("CD-22")
def test_includes_inside_if_0_are_not_imports() -> None:
    living = {f"{name}.h": "" for name in "abcdef"}
    dead = {f"dead{number}.h": "" for number in ("", *range(2, 9))}
    for text in (C, C.replace("\n", "\r\n")):
        assert imported({**living, **dead, "x.c": text}, "x.c").paths == sorted(living)


@pytest.mark.clause("CD-18")
@pytest.mark.parametrize(
    "listed",
    [
        'packages:\n  - "packages/*"\n  - apps/*  # the web\n',
        "# pnpm\npackages:\r\n- 'packages/**'\r\n\r\n# more\r\n- apps/web\r\ncatalog:\r\n- nothing\r\n",
    ],
)
def test_workspaces_of_pnpm_are_workspaces(listed: str) -> None:
    files = {**SHOP, "package.json": "{}", "pnpm-workspace.yaml": listed}
    files["apps/web/app.ts"] = 'import "@shop/utils"; import "shop-ui"; import "lint-rules";'
    found = imported(files, "apps/web/app.ts")
    assert found.paths == ["packages/ui/lib/main.mjs", "packages/utils/src/index.ts"]
    assert found.external == ["lint-rules"]


@pytest.mark.clause("CD-18")
def test_two_stars_in_a_workspace_glob_match_any_depth() -> None:
    assert from_app("lint-rules") == ["tools/deep/lint/index.js"]


@pytest.mark.clause("CD-18")
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


@pytest.mark.clause("CD-18")
def test_inherited_tsconfig_paths_use_the_extending_baseurl() -> None:
    files = {
        "tsconfig.base.json": '{"compilerOptions": {"paths": {"~/*": ["lib/*"]}}}',
        "tsconfig.json": '{"extends": "./tsconfig.base", "compilerOptions": {"baseUrl": "./src"}}',
        "src/lib/a.ts": "",
        "use.ts": 'import "~/a";',
    }
    assert imported(files, "use.ts").paths == ["src/lib/a.ts"]


@pytest.mark.clause("CD-18")
def test_tsconfig_paths_are_inherited_unless_overridden() -> None:
    base = json.dumps({"compilerOptions": {"paths": {"@/*": ["./lib/*"]}}})
    for options, paths in (({}, ["lib/x.ts"]), ({"paths": {}}, [])):
        files = {
            "base.json": base,
            "tsconfig.json": json.dumps({"extends": "./base.json", "compilerOptions": options}),
            "lib/x.ts": "",
            "a.ts": 'import "@/x";\n',
        }
        assert imported(files, "a.ts").paths == paths


@pytest.mark.clause("CD-18")
@pytest.mark.parametrize("name", ["@shop/config/base", "@shop/config/base.json", "@shop/config"])
def test_a_configuration_may_be_in_a_package_of_the_same_workspaces(name: str) -> None:
    shared = '{"compilerOptions": {"paths": {"~/*": ["${configDir}/src/*"]}}}'
    files = {
        **SHOP,
        "packages/config/package.json": '{"name": "@shop/config"}',
        "packages/config/base.json": shared,
        "packages/config/tsconfig.json": shared,
        "apps/web/tsconfig.json": json.dumps({"extends": name}),
        "apps/web/src/a.ts": "",
        "apps/web/app.ts": 'import "~/a";',
    }
    assert imported(files, "apps/web/app.ts").paths == ["apps/web/src/a.ts"]


@pytest.mark.clause("CD-19")
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


@pytest.mark.clause("CD-20")
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


@pytest.mark.clause("CD-21")
def test_an_imported_module_of_java_is_external() -> None:
    files = {"A.java": "import module java.base;\nimport module.b.C;\n", "module/b/C.java": ""}
    found = imported(files, "A.java")
    assert (found.paths, found.external) == (["module/b/C.java"], ["java.base"])


LISTS = """
cmake_minimum_required(VERSION 3.20) # include_directories(commented)
include_directories(third_party/json SYSTEM "${CMAKE_SOURCE_DIR}/vendor" ${UNKNOWN}/x /usr/include ../outside)
add_subdirectory(libs/money)
add_subdirectory(libs/money) add_subdirectory(.) add_subdirectory(nowhere) add_subdirectory()
ADD_SUBDIRECTORY( app )
"""
SHOP_IN_C = {
    "CMakeLists.txt": LISTS,
    "app/CMakeLists.txt": "target_include_directories(private PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/hidden)",
    "app/main.cpp": "".join(
        f'#include "{name}"\n'
        for name in ("json.h", "old.h", "../kin/older.h", "coin.h", "deep.h", "priv.h", "commented.h", "x.h")
    )
    + "#include <json.h>\n",
    "app/private/priv.h": "",
    "third_party/kin/older.h": "",
    "app/hidden/deep.h": "",
    "commented/commented.h": "",
    "third_party/json/json.h": "",
    "vendor/old.h": "",
    "x/x.h": "",
    "libs/money/CMakeLists.txt": "target_include_directories(money PUBLIC\n"
    '  "$<BUILD_INTERFACE:${CMAKE_CURRENT_SOURCE_DIR}/inc>" $<INSTALL_INTERFACE:include>)',
    "libs/money/inc/coin.h": "",
}


@pytest.mark.clause("CD-22")
def test_headers_are_found_in_cmake_include_directories() -> None:
    found = imported(SHOP_IN_C, "app/main.cpp")
    assert found.paths == [
        "app/hidden/deep.h",
        "libs/money/inc/coin.h",
        "third_party/json/json.h",
        "third_party/kin/older.h",
        "vendor/old.h",
    ]
    assert found.external == ["commented.h", "json.h", "priv.h", "x.h"]


@pytest.mark.clause("CD-18")
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


@pytest.mark.clause("CD-18")
def test_declaration_files_resolve_ts_imports_to_sources_or_declarations() -> None:
    files = {"a.d.ts": 'import "./b.ts"; import "./c.mts"; import "./d.ts"; import "./e.ts";'}
    files |= {"b.d.ts": "", "c.d.mts": "", "d.ts": "", "d.d.ts": "", "e.tsx": ""}
    assert imported(files, "a.d.ts").paths == ["b.d.ts", "c.d.mts", "d.ts", "e.tsx"]
