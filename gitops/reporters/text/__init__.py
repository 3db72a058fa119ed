"""For a terminal, with rich. Colour never carries a meaning alone; widths adapt."""
