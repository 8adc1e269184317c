"""What collections and documents are: their names, places, manifests, outlines and sections."""
