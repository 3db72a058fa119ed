"""What holds schemas, behind one Protocol and one entry-point group."""
