"""Whether answers are what a rank can rest on: no system is ranked by answers that were tampered with."""
