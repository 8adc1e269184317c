ALTER TABLE context_pack.cp_packs ADD COLUMN former_name text;
ALTER TABLE context_pack.cp_history ADD COLUMN body text;
