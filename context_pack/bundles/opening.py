"""Which bundle a call means: the named one, or the only one that loads.

Bundles are looked for by every call, and what their files say is never older than the call.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from attrs import frozen

from context_pack.bundles.loading import Loaded, load, read_head
from context_pack.bundles.model import Bundle, Diagnostic, Entity, Unloadable
from context_pack.bundles.ports import BundleFiles, BundlePlace, BundleStore, FoundBundles
from context_pack.kernel.errors import Code, Failure, clip, invalid
from context_pack.kernel.text import close
from context_pack.toolkit.call import Call

MOST_SHOWN = 5
MOST_TYPES = 30
MOST_TOLD = 20
"""The most diagnostics that are added to a not-found error."""


@frozen(eq=False)
class OpenedBundle:
    """A bundle that was asked for, and its id."""

    id: str
    bundle: Bundle


class EntityAddress(NamedTuple):
    """An entity as callers name it."""

    type: str
    id: str


@frozen(eq=False)
class BundleShelf:
    """The bundles that calls can open."""

    store: BundleStore

    def open(self, bundle_id: str | None, call: Call) -> OpenedBundle:
        """The named bundle, or the only one.

        Raises:
            Failure: `not_found`, or `invalid_data` where there are several.
        """
        known = self.store.discover()
        place = self._named(known, bundle_id) if bundle_id else self._only(known)
        bundle = self._loaded(place, call)
        if isinstance(bundle, Unloadable):
            raise _does_not_load(place, bundle.diagnostics)
        return OpenedBundle(place.id, bundle)

    def bundles(self, call: Call) -> list[tuple[BundlePlace, Bundle | Unloadable]]:
        """Every bundle, loaded or not."""
        return [(place, self._loaded(place, call)) for place in self.store.discover().places]

    def _loading(self, known: FoundBundles) -> list[BundlePlace]:
        return [place for place in known.places if read_head(self.store.files(place), place.id).layout]

    def _named(self, known: FoundBundles, bundle_id: str) -> BundlePlace:
        for place in known.places:
            if place.id == bundle_id:
                return place
        message = "there is no bundle of that id; availableBundles are those that load"
        details = {"bundleId": bundle_id, "availableBundles": [place.id for place in self._loading(known)]}
        raise Failure(Code.NOT_FOUND, message, details | _of_search(known))

    def _only(self, known: FoundBundles) -> BundlePlace:
        """The only bundle that loads."""
        loading = self._loading(known)
        if len(loading) == 1:
            return loading[0]
        if loading:
            names = [place.id for place in loading]
            raise invalid(
                "there are several bundles; say which by bundleId", "bundleId", availableBundles=names
            )
        if known.places:
            place = known.places[0]
            raise _does_not_load(place, read_head(self.store.files(place), place.id).diagnostics)
        words = "there is no bundle: no sdd-bundle.yaml in the source root or one folder down"
        if known.diagnostics:  # then it was not looked for there
            words = "there is no bundle where bundles should be; see the diagnostics"
        raise Failure(Code.NOT_FOUND, words, {"availableBundles": [], **_of_search(known)})

    def _loaded(self, place: BundlePlace, call: Call) -> Bundle | Unloadable:
        def pulse(count: int) -> None:
            call.check()
            call.progress(count, None, f"loading {place.id}")

        def make(files: BundleFiles, before: Loaded | None) -> Loaded:
            return load(files, before, place.id, pulse, call.check)

        return self.store.load(place, make, call.check).bundle


def require(bundle: Bundle, bundle_id: str, wanted: Sequence[EntityAddress]) -> list[Entity]:
    """The entities of these addresses, each once.

    Raises:
        Failure: `not_found`, with every missing one in `details.notFound`, and in `details.diagnostics` what
            was wrong with files that may hold them.
    """
    found = {address: bundle.find(address.type, address.id) for address in wanted}
    missing = [address for address, entity in found.items() if entity is None]
    if missing:
        shown = ", ".join(f"{clip(address.type)} {clip(address.id)}" for address in missing[:MOST_SHOWN])
        more = f" and {len(missing) - MOST_SHOWN} more" if len(missing) > MOST_SHOWN else ""
        words = f"not in the bundle: {shown}{more}{_hint(bundle, missing[0])}"
        names = [{"entityType": address.type, "entityId": address.id} for address in missing]
        types = {address.type for address in missing}
        near = [told.record() for told in bundle.diagnostics if told.entity_type in (None, *types)]
        told = {"diagnostics": near[:MOST_TOLD]} if near else {}
        raise Failure(Code.NOT_FOUND, words, {"notFound": names, "bundleId": bundle_id, **told})
    return [entity for entity in found.values() if entity is not None]


def _hint(bundle: Bundle, wanted: EntityAddress) -> str:
    """A suggestion for an unknown entity address."""
    owner = bundle.entities.get(wanted.id)
    if owner is not None:
        return f"; {clip(wanted.id)} is of the type {clip(owner.type)}"
    typed = wanted.type in bundle.kinds
    ids = (one.id for one in bundle.entities.values() if not typed or one.type == wanted.type)
    by_folded = {key.casefold(): key for key in ids}
    near = [clip(by_folded[key]) for key in close(wanted.id.strip().casefold(), by_folded)]
    if near:
        return f"; did you mean {', '.join(near)}?"
    types = list(bundle.kinds)
    more = ", …" if len(types) > MOST_TYPES else ""
    return f"; the types are {', '.join(map(clip, types[:MOST_TYPES]))}{more}" if types and not typed else ""


def _does_not_load(place: BundlePlace, diagnostics: Sequence[Diagnostic]) -> Failure:
    details = {"bundleId": place.id, "diagnostics": [told.record() for told in diagnostics]}
    return Failure(Code.NOT_FOUND, f"the bundle {place.id} does not load; see the diagnostics", details)


def _of_search(known: FoundBundles) -> dict[str, object]:
    told = [diagnostic.record() for diagnostic in known.diagnostics]
    return {"diagnostics": told} if told else {}
