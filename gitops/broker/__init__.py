"""What a Pulsar broker answers: the gates of a registration, and who may connect."""
