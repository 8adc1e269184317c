"""The rules of reading code: imports, roles, scores and matches. Nothing here touches the world."""
