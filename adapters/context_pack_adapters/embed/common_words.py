"""Words that are frequent in documentation and code: they say little about a text, so they weigh less.

Written as people write them; `retrieval.words` makes the tokens. Three bands, from what stands on nearly
every page to what is merely frequent. Names of languages are among them: a project is full of its own. Words
that are in no sentence worth finding (the, of, and) are dropped before.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from context_pack.retrieval.words import tokens

COMMONEST = """
add all any arg argument call class code data def default else error except false file function get golang
import java javascript len line list may module name new none null number object one only option other pass
path python raise read return rust self set string this true try type typescript use value var version
"""
VERY_COMMON = """
after allow also append async attribute await base before break byte case change check close command const
contain copy correct create current dict directory doc document each elif encode end example exist filename
first fix follow format func given https implement include index init instance int isinstance item join key
let license like local make match message method mode more must need note open operation out output parse
print private provide public release remove replace require result run same see should size source specify
start static str support sys test text time tuple under up update user void while without work write
"""
COMMON = """
about above accept access action actual additional address already always another api application apply
assert available avoid back because between binary bit block both buffer build builtin cache cannot cause
character clean collect common compatible complete compute condition configure connect content context
continue convert copyright could count cover date debug decode define del delete depend describe detail
develop differ dir direct distribute doesn don during eg either empty entry environment even execute exit
expect express extend extension extra fail feature fetch field final find flag float form found frame free
full general generate generic getattr give global group handle have head header help helper here however
html http id ignore indicate info inform initial input install instead integer interface internal invalid
issue iterate just keep keyword last later length level library limit link log long look made main many map
mark max mean modify most msg newline next normal notice now obj offset order org original otherwise over
package parameter parser part perform permission place platform point position possible prefix process
program project property protocol range raw receive recursive ref refer relate report repr request response
right root script second section send separate sequence server show sign simple since single skip software
sort special specific split stack standard state status stop store stream strip subclass system take tell
term terminate those thread too tree two until url usage valid variable want warn way whether width window
written yield zero
"""
SHARES: Mapping[str, float] = {COMMON: 0.8, VERY_COMMON: 0.65, COMMONEST: 0.5}


@cache
def shares() -> Mapping[str, float]:
    """The weight of each common token; all others weigh 1."""
    return {token: share for words, share in SHARES.items() for token in tokens(words)}
