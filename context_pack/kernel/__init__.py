"""Values and rules that two or more features share. Pure; imports no feature."""
