"""Whether a broker lets a producer or a consumer connect: its whole decision, step by step."""
