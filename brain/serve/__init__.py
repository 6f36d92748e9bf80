"""Servers, by which programs on this machine use a vault."""
