"""What would change: desired against observed, as a plan. Pure."""
