"""Values into text, behind one table: format × kind of result."""
