"""What is done with collections: bringing them up to date, reading, searching."""
