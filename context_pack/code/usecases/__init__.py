"""What the code tools do: read a file, search the tree."""
