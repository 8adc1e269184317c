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
