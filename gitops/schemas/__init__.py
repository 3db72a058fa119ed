"""What a schema is: one package for each schema type, behind one table."""
