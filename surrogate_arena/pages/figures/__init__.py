"""Figures of boards and studies."""
