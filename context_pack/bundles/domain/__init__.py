"""What bundles are: entities, references, schemas, and the rules about them; nothing here touches a file."""
