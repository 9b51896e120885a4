"""A feature, a judge and an importer for surrogate-arena."""
