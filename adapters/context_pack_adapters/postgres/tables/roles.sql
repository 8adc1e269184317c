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
  IF NOT EXISTS (SELECT FROM pg_namespace WHERE nspname = 'context_pack') THEN
    CREATE SCHEMA context_pack AUTHORIZATION context_pack_owner;
  END IF;
END $$;
SET LOCAL ROLE context_pack_owner;
CREATE TABLE IF NOT EXISTS context_pack.cp_schema (
  version integer PRIMARY KEY,
  at timestamptz NOT NULL DEFAULT clock_timestamp()
);
