"""What can be done with packs: write, read, verify. Asks ports and lets the domain decide."""
