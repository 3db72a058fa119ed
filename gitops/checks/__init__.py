"""What stops or warns about a change beside the broker's answer: condition and wording together."""
