"""Inspecting answers: facts that cost a system its rank, and remarks that do not."""
