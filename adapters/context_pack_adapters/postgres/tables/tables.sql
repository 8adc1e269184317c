CREATE TABLE context_pack.cp_projects (
  project text PRIMARY KEY,
  members regrole NOT NULL
);
-- A pack gives its name up when it expires and another takes it; former_name is what it is still restored by.
CREATE TABLE context_pack.cp_packs (
  project text NOT NULL REFERENCES context_pack.cp_projects,
  id text NOT NULL,
  name text,
  former_name text,
  revision bigint NOT NULL,
  expires_at timestamptz NOT NULL,
  body text NOT NULL,
  author text,
  stamp uuid NOT NULL DEFAULT gen_random_uuid(),
  PRIMARY KEY (project, id),
  UNIQUE (project, name)
);
CREATE TABLE context_pack.cp_history (
  project text NOT NULL REFERENCES context_pack.cp_projects,
  id text NOT NULL,
  revision bigint,
  author text,
  body text,
  at timestamptz NOT NULL DEFAULT clock_timestamp(),
  stamp uuid NOT NULL DEFAULT gen_random_uuid(),
  PRIMARY KEY (project, stamp)
);
CREATE INDEX cp_history_id ON context_pack.cp_history (project, id, at);
CREATE TABLE context_pack.cp_discoveries (
  project text NOT NULL REFERENCES context_pack.cp_projects,
  id text NOT NULL,
  body text NOT NULL,
  author text,
  stamp uuid NOT NULL DEFAULT gen_random_uuid(),
  PRIMARY KEY (project, id)
);
CREATE TABLE context_pack.cp_excerpts (
  project text NOT NULL REFERENCES context_pack.cp_projects,
  digest text NOT NULL,
  text bytea NOT NULL,
  at timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (project, digest)
);
CREATE TABLE context_pack.cp_collections (
  project text NOT NULL REFERENCES context_pack.cp_projects,
  alias text NOT NULL,
  about jsonb NOT NULL,
  stamp uuid NOT NULL DEFAULT gen_random_uuid(),
  PRIMARY KEY (project, alias)
);
CREATE TABLE context_pack.cp_documents (
  project text NOT NULL,
  alias text NOT NULL,
  path bytea NOT NULL,
  digest text NOT NULL,
  content bytea NOT NULL,
  PRIMARY KEY (project, alias, path),
  FOREIGN KEY (project, alias) REFERENCES context_pack.cp_collections ON DELETE CASCADE
);

-- The project that a login has named, if it has that project's role.
CREATE FUNCTION context_pack.cp_project() RETURNS text
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT known.project FROM context_pack.cp_projects AS known
  WHERE known.project = current_setting('context_pack.project', true) AND pg_has_role(known.members, 'USAGE')
$$;
ALTER TABLE context_pack.cp_projects ENABLE ROW LEVEL SECURITY;
ALTER TABLE context_pack.cp_projects FORCE ROW LEVEL SECURITY;
CREATE POLICY owner ON context_pack.cp_projects TO context_pack_owner USING (true) WITH CHECK (true);
CREATE POLICY member ON context_pack.cp_projects FOR SELECT USING (pg_has_role(members, 'USAGE'));
GRANT USAGE ON SCHEMA context_pack TO context_pack_member;
GRANT SELECT ON context_pack.cp_schema, context_pack.cp_projects TO context_pack_member;
DO $$
DECLARE
  name text;
BEGIN
  FOREACH name IN ARRAY ARRAY[
    'cp_packs', 'cp_history', 'cp_discoveries', 'cp_excerpts', 'cp_collections', 'cp_documents'
  ] LOOP
    EXECUTE format('ALTER TABLE context_pack.%I ENABLE ROW LEVEL SECURITY', name);
    EXECUTE format('ALTER TABLE context_pack.%I FORCE ROW LEVEL SECURITY', name);
    EXECUTE format('CREATE POLICY member ON context_pack.%I'
                   ' USING (project = (SELECT context_pack.cp_project()))', name);
    EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON context_pack.%I TO context_pack_member', name);
  END LOOP;
END $$;
INSERT INTO context_pack.cp_schema (version) VALUES (5);
