"""The tables of the team's database: one list of steps, forwards only, each run once under one lock.

An owner role has the tables, a member role may use them; row-level security shows a login the rows of the
project it has named, if it has that project's role; functions look names up in `pg_catalog` alone, so that
nobody puts own ones in the way. Nothing is dropped and nothing is renamed in a step.
"""

from __future__ import annotations

from typing import LiteralString

import psycopg

from context_pack.kernel.errors import Code, Failure
from context_pack_adapters.postgres.connection import VERSION, Address, Link, check_version, open_link
from context_pack_adapters.postgres.faults import NoAnswer, failure_of

_INIT_LOCK = 0x436F_6E50  # one number for everybody who prepares a database

ROLES: LiteralString = """
DO $$ BEGIN
  IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'context_pack_owner') THEN
    CREATE ROLE context_pack_owner NOLOGIN;
  END IF;
  IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'context_pack_member') THEN
    CREATE ROLE context_pack_member NOLOGIN;
  END IF;
  BEGIN
    EXECUTE format('GRANT context_pack_owner TO %I', current_user);
    GRANT context_pack_member TO context_pack_owner;
  EXCEPTION WHEN insufficient_privilege THEN
    NULL; -- somebody else has made the roles
  END;
  BEGIN
    CREATE EXTENSION IF NOT EXISTS vector;
  EXCEPTION WHEN OTHERS THEN
    NULL; -- without pgvector, packs and discoveries are shared, and document collections are not
  END;
  IF NOT EXISTS (SELECT FROM pg_namespace WHERE nspname = 'context_pack') THEN
    CREATE SCHEMA context_pack AUTHORIZATION context_pack_owner;
  END IF;
END $$;
SET LOCAL ROLE context_pack_owner;
CREATE TABLE IF NOT EXISTS context_pack.cp_schema (
  version integer PRIMARY KEY,
  at timestamptz NOT NULL DEFAULT clock_timestamp()
);
"""

_SECURE: LiteralString = """
DO $$
DECLARE
  name text;
BEGIN
  FOREACH name IN ARRAY ARRAY[{}] LOOP
    EXECUTE format('ALTER TABLE context_pack.%I ENABLE ROW LEVEL SECURITY', name);
    EXECUTE format('ALTER TABLE context_pack.%I FORCE ROW LEVEL SECURITY', name);
    EXECUTE format('CREATE POLICY member ON context_pack.%I'
                   ' USING (project = (SELECT context_pack.cp_project()))', name);
    EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON context_pack.%I TO context_pack_member', name);
  END LOOP;
END $$;
"""
"""What every table of a project has: row-level security, forced, and rights for members."""

STEPS: tuple[LiteralString, ...] = (
    """
CREATE TABLE context_pack.cp_projects (
  project text PRIMARY KEY,
  members regrole NOT NULL
);
CREATE TABLE context_pack.cp_packs (
  project text NOT NULL REFERENCES context_pack.cp_projects,
  id text NOT NULL,
  name text,
  revision bigint NOT NULL,
  expires_at timestamptz NOT NULL,
  body text NOT NULL,
  stamp uuid NOT NULL,
  author text,
  PRIMARY KEY (project, id),
  UNIQUE (project, name)
);
CREATE TABLE context_pack.cp_history (
  project text NOT NULL REFERENCES context_pack.cp_projects,
  stamp uuid NOT NULL,
  id text NOT NULL,
  revision bigint,
  author text,
  at timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (project, stamp)
);
CREATE INDEX cp_history_id ON context_pack.cp_history (project, id, at);
CREATE TABLE context_pack.cp_discoveries (
  project text NOT NULL REFERENCES context_pack.cp_projects,
  id text NOT NULL,
  body text NOT NULL,
  stamp uuid NOT NULL,
  author text,
  PRIMARY KEY (project, id)
);
CREATE TABLE context_pack.cp_excerpts (
  project text NOT NULL REFERENCES context_pack.cp_projects,
  digest text NOT NULL,
  text bytea NOT NULL,
  at timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (project, digest)
);
CREATE TABLE context_pack.cp_vectors (
  project text NOT NULL REFERENCES context_pack.cp_projects,
  model text NOT NULL,
  digest bytea NOT NULL,
  vector bytea NOT NULL,
  at timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (project, model, digest)
);
CREATE FUNCTION context_pack.cp_project() RETURNS text
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT known.project FROM context_pack.cp_projects AS known
  WHERE known.project = current_setting('context_pack.project', true) AND pg_has_role(known.members, 'USAGE')
$$;
CREATE FUNCTION context_pack.cp_channel(project text) RETURNS text
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT 'cp_' || left(encode(sha256(convert_to(project, 'UTF8')), 'hex'), 40)
$$;
CREATE FUNCTION context_pack.cp_tell() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  PERFORM pg_notify(context_pack.cp_channel(coalesce(NEW.project, OLD.project)), coalesce(NEW.id, OLD.id));
  RETURN NULL;
END $$;
CREATE TRIGGER cp_packs_tell AFTER INSERT OR UPDATE OR DELETE ON context_pack.cp_packs
  FOR EACH ROW EXECUTE FUNCTION context_pack.cp_tell();

ALTER TABLE context_pack.cp_projects ENABLE ROW LEVEL SECURITY;
ALTER TABLE context_pack.cp_projects FORCE ROW LEVEL SECURITY;
CREATE POLICY owner ON context_pack.cp_projects TO context_pack_owner USING (true) WITH CHECK (true);
CREATE POLICY member ON context_pack.cp_projects FOR SELECT USING (pg_has_role(members, 'USAGE'));

GRANT USAGE ON SCHEMA context_pack TO context_pack_member;
GRANT SELECT ON context_pack.cp_schema, context_pack.cp_projects TO context_pack_member;
"""
    + _SECURE.format("'cp_packs', 'cp_history', 'cp_discoveries', 'cp_excerpts', 'cp_vectors'"),
    """
ALTER TABLE context_pack.cp_packs ADD COLUMN former_name text;
ALTER TABLE context_pack.cp_history ADD COLUMN body text;
""",
    """
CREATE SEQUENCE context_pack.cp_ids;
CREATE TABLE context_pack.cp_corpora (
  project text NOT NULL REFERENCES context_pack.cp_projects,
  corpus bytea NOT NULL,
  facts text NOT NULL,
  PRIMARY KEY (project, corpus)
);
CREATE TABLE context_pack.cp_models (
  project text NOT NULL REFERENCES context_pack.cp_projects,
  model text NOT NULL,
  dimension integer NOT NULL,
  PRIMARY KEY (project, model)
);
CREATE TABLE context_pack.cp_entries (
  project text NOT NULL REFERENCES context_pack.cp_projects,
  id bigint NOT NULL,
  corpus bytea NOT NULL,
  key bytea NOT NULL,
  kind bytea NOT NULL,
  module bytea NOT NULL,
  digest text NOT NULL,
  stamp text NOT NULL,
  facts text NOT NULL,
  head text NOT NULL,
  content bytea NOT NULL,
  pieces integer NOT NULL,
  PRIMARY KEY (project, id),
  UNIQUE (project, corpus, key)
);
CREATE TABLE context_pack.cp_pieces (
  project text NOT NULL,
  id bigint NOT NULL,
  entry bigint NOT NULL,
  ordinal integer NOT NULL,
  heading bytea NOT NULL,
  length integer NOT NULL,
  digest bytea NOT NULL,
  wanted integer NOT NULL DEFAULT 0,
  body text NOT NULL,
  PRIMARY KEY (project, id),
  FOREIGN KEY (project, entry) REFERENCES context_pack.cp_entries ON DELETE CASCADE
);
CREATE INDEX cp_pieces_entry ON context_pack.cp_pieces (project, entry);
CREATE TABLE context_pack.cp_postings (
  project text NOT NULL REFERENCES context_pack.cp_projects,
  corpus bytea NOT NULL,
  word bytea NOT NULL,
  pieces bigint[] NOT NULL,
  weights real[] NOT NULL
);
CREATE INDEX cp_postings_word ON context_pack.cp_postings (project, word);
CREATE TABLE context_pack.cp_embeddings (
  project text NOT NULL,
  model text NOT NULL,
  piece bigint NOT NULL,
  dimension integer NOT NULL,
  vector real[] NOT NULL,
  PRIMARY KEY (project, model, piece),
  FOREIGN KEY (project, piece) REFERENCES context_pack.cp_pieces ON DELETE CASCADE
);
CREATE INDEX cp_embeddings_piece ON context_pack.cp_embeddings (project, piece);
GRANT USAGE ON SEQUENCE context_pack.cp_ids TO context_pack_member;
"""
    + _SECURE.format("'cp_corpora', 'cp_models', 'cp_entries', 'cp_pieces', 'cp_postings', 'cp_embeddings'"),
    """
ALTER TABLE context_pack.cp_embeddings ALTER COLUMN vector SET STATISTICS 0;
ALTER TABLE context_pack.cp_postings
  ALTER COLUMN pieces SET STATISTICS 0, ALTER COLUMN weights SET STATISTICS 0;
ALTER TABLE context_pack.cp_pieces ALTER COLUMN body SET STATISTICS 0;
CREATE INDEX cp_pieces_lengths ON context_pack.cp_pieces (project, id, entry, length);
CREATE FUNCTION context_pack.cp_analyze_grown() RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  name text;
BEGIN
  FOREACH name IN ARRAY ARRAY['cp_entries', 'cp_pieces', 'cp_postings', 'cp_vectors', 'cp_embeddings'] LOOP
    IF pg_relation_size(format('context_pack.%I', name)::regclass) > 2 * 8192 * (
        SELECT relpages FROM pg_class WHERE oid = format('context_pack.%I', name)::regclass) THEN
      EXECUTE format('ANALYZE context_pack.%I', name);
    END IF;
  END LOOP;
END $$;
REVOKE ALL ON FUNCTION context_pack.cp_analyze_grown() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION context_pack.cp_analyze_grown() TO context_pack_member;
""",
)
assert len(STEPS) == VERSION

GRAPHS: LiteralString = """
DO $$
DECLARE
  place text := (SELECT quote_ident(nspname) FROM pg_extension
                 JOIN pg_namespace AS n ON n.oid = extnamespace WHERE extname = 'vector');
  length integer;
BEGIN
  IF place IS NULL THEN
    RETURN;
  END IF;
  FOREACH length IN ARRAY ARRAY[384, 768, 1024, 1536] LOOP
    EXECUTE format('CREATE INDEX IF NOT EXISTS cp_embeddings_%s ON context_pack.cp_embeddings USING hnsw'
                   ' ((vector::%s.vector(%s)) %s.vector_cosine_ops) WHERE dimension = %s',
                   length, place, length, place, length);
  END LOOP;
END $$;
"""

_KNOWN: LiteralString = "SELECT coalesce(max(version), 0) FROM context_pack.cp_schema"
_NOTE: LiteralString = "INSERT INTO context_pack.cp_schema (version) VALUES (%(version)s)"
_REGISTER: LiteralString = """
    INSERT INTO context_pack.cp_projects (project, members)
    VALUES (%(project)s, quote_ident(%(members)s)::regrole)
    ON CONFLICT (project) DO UPDATE SET members = excluded.members"""
MEMBERS = "context_pack_member"
_FORBIDDEN = (
    "this login may not prepare the team's database; use one that may create roles and schemas, "
    "or give 'context-pack team init --print' to somebody who may"
)


def prepare(address: Address, project: str, members: str = MEMBERS) -> int:
    """Make or migrate the tables, and register the project for that role; returns how many steps were run.

    Raises:
        Failure: the database cannot be reached, is newer than this program, or the login may not do it.
    """
    try:
        with open_link(address) as link:
            return _prepared(link, project, members)
    except psycopg.errors.UndefinedObject:
        raise Failure(Code.INVALID_DATA, f"the database has no role {members!r}; create it first") from None
    except psycopg.errors.InsufficientPrivilege:
        raise Failure(Code.IO_ERROR, _FORBIDDEN, {"reason": "42501"}) from None
    except (psycopg.Error, NoAnswer) as error:
        raise failure_of(error) from None


def _prepared(link: Link, project: str, members: str) -> int:
    link.autocommit = False
    link.execute("SELECT pg_advisory_xact_lock(%(number)s)", {"number": _INIT_LOCK})
    link.execute(ROLES)
    ((known,),) = link.execute(_KNOWN).fetchall()
    if known > VERSION:
        check_version(known)
    for version, step in enumerate(STEPS[known:], known + 1):
        link.execute(step)
        link.execute(_NOTE, {"version": version})
    link.execute(GRAPHS)
    link.execute(_REGISTER, {"project": project, "members": members})
    link.commit()
    return VERSION - int(known)


def printed(project: str, members: str = MEMBERS) -> str:
    """The SQL that `prepare` runs on an empty database, for an administrator to run."""
    steps = [f"{step}INSERT INTO context_pack.cp_schema VALUES ({at});" for at, step in enumerate(STEPS, 1)]
    register = (
        "INSERT INTO context_pack.cp_projects (project, members)\n"
        f"  VALUES ({_literal(project)}, quote_ident({_literal(members)})::regrole)\n"
        "  ON CONFLICT (project) DO UPDATE SET members = excluded.members;"
    )
    lock = f"SELECT pg_advisory_xact_lock({_INIT_LOCK});"
    return "\n".join(
        ["BEGIN;", lock, ROLES.strip(), *map(str.strip, steps), GRAPHS.strip(), register, "COMMIT;"]
    )


def _literal(text: str) -> str:
    """A text as SQL shows it; for people to read and run, never run by us."""
    return "'" + text.replace("'", "''") + "'"
