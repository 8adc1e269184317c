"""What can be done with bundles: find, load, export, look around, check."""
