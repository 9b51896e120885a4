"""GroUSE: unit tests of judges of grounded answers."""
