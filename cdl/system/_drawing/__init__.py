"""Diagrams, systems and fields as pictures: boxes in columns, wires on tracks between them, frames around diagrams."""
