"""A board as a site: one view a page, filled into templates."""
