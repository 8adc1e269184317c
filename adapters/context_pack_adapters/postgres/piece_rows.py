"""The statements of the shared index; names and words are bytes, so that any text can be asked for."""

from __future__ import annotations

from typing import Any, LiteralString

from context_pack.retrieval.model import Scope
from context_pack_adapters.index.keyword_search import K1, B
from context_pack_adapters.index.values import to_name

_HERE: LiteralString = "project = %(project)s"
_SCOPE: LiteralString = """e.project = %(project)s
      AND (%(corpora)s::bytea[] IS NULL OR e.corpus = ANY(%(corpora)s))
      AND (%(kinds)s::bytea[] IS NULL OR e.kind = ANY(%(kinds)s))
      AND (%(module)s::bytea IS NULL OR e.module = %(module)s)
      AND (%(within_corpus)s::bytea IS NULL OR (e.corpus = %(within_corpus)s AND e.key = %(within_key)s))
      AND (%(without_corpus)s::bytea IS NULL
           OR NOT (e.corpus = %(without_corpus)s AND e.key = %(without_key)s))"""
_SCOPED: LiteralString = f"""context_pack.cp_pieces AS p
    JOIN context_pack.cp_entries AS e ON e.project = p.project AND e.id = p.entry AND {_SCOPE}"""

LOCK: LiteralString = "SELECT pg_advisory_xact_lock(hashtextextended(%(project)s, 0))"
ANALYZE_GROWN: LiteralString = "SELECT context_pack.cp_analyze_grown()"
"""What has doubled is planned for as it is now: a plan for a few rows takes seconds among a thousand."""
IDS: LiteralString = "SELECT nextval('context_pack.cp_ids') FROM generate_series(1, %(count)s)"
ENTRY: LiteralString = """
    INSERT INTO context_pack.cp_entries
      (project, id, corpus, key, kind, module, digest, stamp, facts, head, content, pieces)
    VALUES (%(project)s, %(id)s, %(corpus)s, %(key)s, %(kind)s, %(module)s, %(digest)s, %(stamp)s, %(facts)s,
            %(head)s, %(content)s, %(pieces)s)"""
PIECE: LiteralString = """
    INSERT INTO context_pack.cp_pieces (project, id, entry, ordinal, heading, length, digest, body)
    SELECT %(project)s, * FROM unnest(
      %(ids)s::bigint[], %(entries)s::bigint[], %(ordinals)s::integer[], %(headings)s::bytea[],
      %(lengths)s::integer[], %(digests)s::bytea[], %(bodies)s::text[])"""
POSTINGS: LiteralString = """
    INSERT INTO context_pack.cp_postings (project, corpus, word, pieces, weights)
    SELECT %(project)s, %(corpus)s, word, array_agg(piece ORDER BY piece), array_agg(weight ORDER BY piece)
    FROM unnest(%(words)b::bytea[], %(pieces)b::bigint[], %(weights)b::real[]) AS given (word, piece, weight)
    GROUP BY word"""
MERGE: LiteralString = """
    WITH old AS (DELETE FROM context_pack.cp_postings WHERE project = %(project)s RETURNING *),
    each AS MATERIALIZED (
      SELECT old.corpus, old.word, u.piece, u.weight
      FROM old CROSS JOIN LATERAL unnest(old.pieces, old.weights) AS u (piece, weight))
    INSERT INTO context_pack.cp_postings (project, corpus, word, pieces, weights)
    SELECT %(project)s, corpus, word, array_agg(piece ORDER BY piece), array_agg(weight ORDER BY piece)
    FROM each JOIN context_pack.cp_pieces AS p ON p.project = %(project)s AND p.id = piece
    GROUP BY corpus, word"""
DROP: LiteralString = f"""
    DELETE FROM context_pack.cp_entries WHERE {_HERE} AND corpus = %(corpus)s AND key = ANY(%(keys)s)"""
DROP_CORPUS: LiteralString = f"DELETE FROM context_pack.cp_entries WHERE {_HERE} AND corpus = %(corpus)s"
DROP_WORDS: LiteralString = f"DELETE FROM context_pack.cp_postings WHERE {_HERE} AND corpus = %(corpus)s"
DROP_NOTE: LiteralString = f"DELETE FROM context_pack.cp_corpora WHERE {_HERE} AND corpus = %(corpus)s"
NOTE: LiteralString = """
    INSERT INTO context_pack.cp_corpora (project, corpus, facts) VALUES (%(project)s, %(corpus)s, %(facts)s)
    ON CONFLICT (project, corpus) DO UPDATE SET facts = excluded.facts"""
NOTED: LiteralString = f"SELECT facts FROM context_pack.cp_corpora WHERE {_HERE} AND corpus = %(corpus)s"
TOUCH: LiteralString = f"""
    UPDATE context_pack.cp_entries SET stamp = %(stamp)s
    WHERE {_HERE} AND corpus = %(corpus)s AND key = %(key)s"""
KNOWN: LiteralString = f"""
    SELECT key, digest, stamp FROM context_pack.cp_entries
    WHERE {_HERE} AND corpus = %(corpus)s ORDER BY key"""
FACTS: LiteralString = f"""
    SELECT key, facts FROM context_pack.cp_entries
    WHERE {_HERE} AND corpus = %(corpus)s AND facts <> '{{}}' ORDER BY key"""

RECALL: LiteralString = f"""
    SELECT digest, vector FROM context_pack.cp_vectors
    WHERE {_HERE} AND model = %(model)s AND digest = ANY(%(digests)s)"""
REMEMBER: LiteralString = """
    INSERT INTO context_pack.cp_vectors (project, model, digest, vector)
    SELECT %(project)s, %(model)s, * FROM unnest(%(digests)b::bytea[], %(vectors)b::bytea[])
    ON CONFLICT DO NOTHING"""
REMEMBERED: LiteralString = f"""
    SELECT model, digest, vector FROM context_pack.cp_vectors
    WHERE {_HERE} AND model = ANY(%(models)s) AND digest = ANY(%(digests)s)"""
MODELS: LiteralString = f"SELECT model, dimension FROM context_pack.cp_models WHERE {_HERE}"
EMBED: LiteralString = """
    INSERT INTO context_pack.cp_embeddings (project, model, piece, dimension, vector)
    SELECT %(project)s, model, piece, dimension, vector::real[]
    FROM unnest(%(models)s::text[], %(pieces)s::bigint[], %(dimensions)s::integer[], %(vectors)s::text[])
      AS given (model, piece, dimension, vector)
    ON CONFLICT DO NOTHING"""
DIGESTS: LiteralString = (
    f"SELECT id, digest FROM context_pack.cp_pieces WHERE {_HERE} AND id = ANY(%(pieces)s)"
)
MODEL: LiteralString = f"SELECT dimension FROM context_pack.cp_models WHERE {_HERE} AND model = %(model)s"
ENROL: LiteralString = """
    INSERT INTO context_pack.cp_models (project, model, dimension)
    VALUES (%(project)s, %(model)s, %(dimension)s)
    ON CONFLICT (project, model) DO UPDATE SET dimension = excluded.dimension"""
UNEMBED: LiteralString = f"DELETE FROM context_pack.cp_embeddings WHERE {_HERE} AND model = %(model)s"
UNREMEMBER: LiteralString = f"""
    DELETE FROM context_pack.cp_vectors WHERE {_HERE} AND model = %(model)s AND octet_length(digest) = 16"""

TOTALS: LiteralString = (
    f"SELECT count(*), coalesce(avg(length), 1)::float8 FROM context_pack.cp_pieces WHERE {_HERE}"
)
COUNTED: LiteralString = """
    WITH each AS MATERIALIZED (
      SELECT s.word, u.piece FROM context_pack.cp_postings AS s
      CROSS JOIN LATERAL unnest(s.pieces) AS u (piece)
      WHERE s.project = %(project)s AND s.word = ANY(%(words)s))
    SELECT each.word, count(*) FROM each
    JOIN context_pack.cp_pieces AS p ON p.project = %(project)s AND p.id = each.piece GROUP BY each.word"""
AFTER: LiteralString = f"""
    SELECT word FROM context_pack.cp_postings WHERE {_HERE} AND word > %(word)s ORDER BY word LIMIT 1"""
KEYWORD: LiteralString = f"""
    WITH each AS MATERIALIZED (
      SELECT u.piece, q.factor, u.weight::float8 AS weight
      FROM unnest(%(words)s::bytea[], %(factors)s::float8[]) AS q (word, factor)
      JOIN context_pack.cp_postings AS s ON s.project = %(project)s AND s.word = q.word
      CROSS JOIN LATERAL unnest(s.pieces, s.weights) AS u (piece, weight))
    SELECT each.piece, sum(factor * weight * {K1 + 1}
             / (weight + {K1} * ({1 - B} + {B} * p.length / %(usual)s::float8))) AS score
    FROM each JOIN ({_SCOPED}) ON p.project = %(project)s AND p.id = each.piece
    GROUP BY each.piece ORDER BY score DESC, each.piece LIMIT %(limit)s"""
HASHED: LiteralString = "SELECT set_config('enable_nestloop', 'off', true)"
LOOPED: LiteralString = "SELECT set_config('enable_nestloop', 'on', true)"
"""How often common words stand somewhere is more than the planner expects, which would look up each place."""
NAMED: LiteralString = f"""
    SELECT p.id FROM {_SCOPED}
    WHERE EXISTS (
      SELECT FROM unnest(%(names)s::bytea[]) AS n (name)
      WHERE p.heading = n.name
        OR substring(p.heading FROM greatest(length(p.heading) - length(n.name), 1)) = '.'::bytea || n.name)
    ORDER BY p.id LIMIT %(limit)s"""
COUNT: LiteralString = f"""
    SELECT count(*), count(v.piece) FROM {_SCOPED}
    LEFT JOIN context_pack.cp_embeddings AS v
      ON v.project = p.project AND v.model = %(model)s AND v.piece = p.id"""
EMBEDDED: LiteralString = f"""
    SELECT count(*) FROM (
      SELECT FROM {_SCOPED}
      JOIN context_pack.cp_embeddings AS v
        ON v.project = p.project AND v.model = %(model)s AND v.piece = p.id
      LIMIT %(most)s) AS counted"""
LACKING: LiteralString = f"""
    SELECT p.id, p.body FROM {_SCOPED}
    WHERE NOT EXISTS (
      SELECT FROM context_pack.cp_embeddings AS v
      WHERE v.project = p.project AND v.model = %(model)s AND v.piece = p.id)
    ORDER BY p.heading = ''::bytea, p.id DESC LIMIT %(limit)s"""
EXACT: LiteralString = f"""
    WITH admitted AS MATERIALIZED (
      SELECT v.piece, v.vector FROM {_SCOPED}
      JOIN context_pack.cp_embeddings AS v
        ON v.project = p.project AND v.model = %(model)s AND v.piece = p.id)
    SELECT piece, -(vector::vector <#> %(vector)s::text::vector) AS score FROM admitted
    ORDER BY score DESC, piece LIMIT %(limit)s"""
_NEAR: LiteralString = """
    WITH near AS MATERIALIZED (
      SELECT v.piece, v.vector::vector(%d) <=> %%(vector)s::text::vector(%d) AS distance
      FROM context_pack.cp_embeddings AS v
      WHERE v.project = %%(project)s AND v.model = %%(model)s AND v.dimension = %d AND EXISTS (
        SELECT FROM %s WHERE p.project = v.project AND p.id = v.piece)
      ORDER BY distance LIMIT %%(limit)s)
    SELECT piece, 1 - distance AS score FROM near ORDER BY score DESC, piece"""
ITERATIVE: LiteralString = "SELECT set_config('hnsw.iterative_scan', 'relaxed_order', true)"
VECTORS: LiteralString = f"""
    SELECT p.id, v.vector FROM {_SCOPED}
    JOIN context_pack.cp_vectors AS v
      ON v.project = p.project AND v.model = %(model)s AND v.digest = p.digest
    JOIN context_pack.cp_embeddings AS m
      ON m.project = p.project AND m.model = v.model AND m.piece = p.id
    WHERE (%(pieces)s::bigint[] IS NULL OR p.id = ANY(%(pieces)s)) ORDER BY p.id"""
FOUND: LiteralString = """
    SELECT p.id, e.corpus, e.key, e.kind, e.module, e.head, p.ordinal, e.pieces, p.body, e.facts
    FROM context_pack.cp_pieces AS p
    JOIN context_pack.cp_entries AS e ON e.project = p.project AND e.id = p.entry
    WHERE p.project = %(project)s AND p.id = ANY(%(pieces)s)"""
WHOLE: LiteralString = f"""
    SELECT id, digest, stamp, head, kind, module, facts, content FROM context_pack.cp_entries
    WHERE {_HERE} AND corpus = %(corpus)s AND key = %(key)s"""
PIECES: LiteralString = (
    f"SELECT body FROM context_pack.cp_pieces WHERE {_HERE} AND entry = %(entry)s ORDER BY ordinal"
)
SUMMARIES: LiteralString = f"""
    SELECT key, head, kind, module, facts FROM context_pack.cp_entries
    WHERE {_HERE} AND corpus = %(corpus)s ORDER BY key LIMIT %(limit)s OFFSET %(offset)s"""
CORPORA: LiteralString = f"""
    SELECT corpus, 0 FROM context_pack.cp_corpora WHERE {_HERE}
    UNION ALL SELECT corpus, count(*) FROM context_pack.cp_entries WHERE {_HERE} GROUP BY corpus"""
NEAR: dict[int, LiteralString] = {
    384: _NEAR % (384, 384, 384, _SCOPED),
    768: _NEAR % (768, 768, 768, _SCOPED),
    1024: _NEAR % (1024, 1024, 1024, _SCOPED),
    1536: _NEAR % (1536, 1536, 1536, _SCOPED),
}
"""Vectors of these lengths have a graph, which `schema` makes where there is pgvector."""


def scope_values(scope: Scope) -> dict[str, Any]:
    """The parameters of a scope."""
    within = scope.within or (None, None)
    without = scope.without or (None, None)

    def names(given: tuple[str, ...] | None) -> list[bytes] | None:
        return None if given is None else [to_name(name) for name in given]

    def name(given: str | None) -> bytes | None:
        return None if given is None else to_name(given)

    return {
        "corpora": names(scope.corpora),
        "kinds": names(scope.kinds),
        "module": name(scope.module or None),
        "within_corpus": name(within[0]),
        "within_key": name(within[1]),
        "without_corpus": name(without[0]),
        "without_key": name(without[1]),
    }
