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
