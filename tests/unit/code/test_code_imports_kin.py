"""Imports among packages of one repository, traits of PHP classes, and what C leaves out by `#if 0`."""

from __future__ import annotations

import json

import pytest
from import_projects import imported

from context_pack.code.domain.imports import c_family, php

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
def test_a_package_of_the_same_workspaces_is_no_stranger(name: str, path: str) -> None:
    assert from_app(name) == [path]


@pytest.mark.clause("CD-18")
@pytest.mark.parametrize(
    "name", ["react", "@shop", "@shop/", "@shop/none", "shop-ui/secret", "node:fs", "#x", "/"]
)
def test_other_names_stay_external(name: str) -> None:
    assert from_app(name) == []


@pytest.mark.clause("CD-18")
@pytest.mark.parametrize(
    "workspaces", [{"packages": ["packages/*"]}, ["packages/utils"], ["./packages/*", "!packages/ui"]]
)
def test_workspaces_are_read_as_people_write_them(workspaces: object) -> None:
    files = {**SHOP, "package.json": json.dumps({"workspaces": workspaces}), "a.ts": 'import "@shop/utils";'}
    assert imported(files, "a.ts").paths == ["packages/utils/src/index.ts"]


@pytest.mark.clause("CD-18")
@pytest.mark.parametrize("workspaces", ["packages/*", [1, None], ["../*"], {"packages": 1}, [["packages/*"]]])
def test_workspaces_that_are_none_lead_nowhere(workspaces: object) -> None:
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
def test_the_traits_of_a_class_count_by_their_full_names() -> None:
    head = php.parse(PHP)
    assert head.classes == ("App\\Traits\\HasTags", "App\\Contracts\\Named", "App\\Contracts\\Dated")
    assert head.traits == (
        "App\\Traits\\HasTags",
        "App\\Models\\SoftDeletes",
        "Vendor\\Kit\\Counts",
        "App\\Models\\Concerns\\Sorts",
        "App\\Models\\Local",
    )


@pytest.mark.clause("CD-24")
def test_a_trait_beside_its_class_is_found() -> None:
    files = {
        "composer.json": json.dumps({"autoload": {"psr-4": {"App\\": "app/"}}}),
        "app/Models/Post.php": PHP,
        "app/Models/SoftDeletes.php": "<?php",
        "app/Traits/HasTags.php": "<?php",
        "app/Models/Concerns/Sorts.php": "<?php",
    }
    assert imported(files, "app/Models/Post.php").paths == [
        "app/Models/Concerns/Sorts.php",
        "app/Models/SoftDeletes.php",
        "app/Traits/HasTags.php",
    ]


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
def test_what_if_0_leaves_out_does_not_count() -> None:
    assert [each.name for each in c_family.parse(C)] == ["a.h", "b.h", "c.h", "d.h", "e.h", "f.h"]
    assert [each.name for each in c_family.parse(C.replace("\n", "\r\n"))] == [
        "a.h", "b.h", "c.h", "d.h", "e.h", "f.h"
    ]  # fmt: skip
