"""Reading payloads: one kernel for each schema type."""
