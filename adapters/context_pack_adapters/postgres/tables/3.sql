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

DO $$
DECLARE
  name text;
BEGIN
  FOREACH name IN ARRAY ARRAY['cp_corpora', 'cp_models', 'cp_entries', 'cp_pieces', 'cp_postings', 'cp_embeddings'] LOOP
    EXECUTE format('ALTER TABLE context_pack.%I ENABLE ROW LEVEL SECURITY', name);
    EXECUTE format('ALTER TABLE context_pack.%I FORCE ROW LEVEL SECURITY', name);
    EXECUTE format('CREATE POLICY member ON context_pack.%I'
                   ' USING (project = (SELECT context_pack.cp_project()))', name);
    EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON context_pack.%I TO context_pack_member', name);
  END LOOP;
END $$;
