"""What holds schemas, behind one Protocol; kinds of gitops.yaml come from an entry-point group."""
