DROP TRIGGER cp_packs_tell ON context_pack.cp_packs;
DROP FUNCTION context_pack.cp_tell();
DROP FUNCTION context_pack.cp_channel(text);
DROP FUNCTION context_pack.cp_analyze_grown();
DROP TABLE context_pack.cp_vectors, context_pack.cp_embeddings, context_pack.cp_postings, context_pack.cp_pieces,
  context_pack.cp_entries, context_pack.cp_models, context_pack.cp_corpora;
DROP SEQUENCE context_pack.cp_ids;
ALTER TABLE context_pack.cp_packs ALTER COLUMN stamp SET DEFAULT gen_random_uuid();
ALTER TABLE context_pack.cp_discoveries ALTER COLUMN stamp SET DEFAULT gen_random_uuid();
ALTER TABLE context_pack.cp_history ALTER COLUMN stamp SET DEFAULT gen_random_uuid();
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
DO $$
DECLARE
  name text;
BEGIN
  FOREACH name IN ARRAY ARRAY['cp_collections', 'cp_documents'] LOOP
    EXECUTE format('ALTER TABLE context_pack.%I ENABLE ROW LEVEL SECURITY', name);
    EXECUTE format('ALTER TABLE context_pack.%I FORCE ROW LEVEL SECURITY', name);
    EXECUTE format('CREATE POLICY member ON context_pack.%I'
                   ' USING (project = (SELECT context_pack.cp_project()))', name);
    EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON context_pack.%I TO context_pack_member', name);
  END LOOP;
END $$;
