"""Tables beside an arena's three: published ratings, systems; and arenas of tables in memory."""
