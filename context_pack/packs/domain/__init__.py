"""The rules of packs: what they are, how they change, how their code is found again and shown. Pure."""
