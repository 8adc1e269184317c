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

DO $$
DECLARE
  name text;
BEGIN
  FOREACH name IN ARRAY ARRAY['cp_packs', 'cp_history', 'cp_discoveries', 'cp_excerpts', 'cp_vectors'] LOOP
    EXECUTE format('ALTER TABLE context_pack.%I ENABLE ROW LEVEL SECURITY', name);
    EXECUTE format('ALTER TABLE context_pack.%I FORCE ROW LEVEL SECURITY', name);
    EXECUTE format('CREATE POLICY member ON context_pack.%I'
                   ' USING (project = (SELECT context_pack.cp_project()))', name);
    EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON context_pack.%I TO context_pack_member', name);
  END LOOP;
END $$;
