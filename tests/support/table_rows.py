"""The cells of a table in Markdown."""


def rows(table: str) -> list[list[str]]:
    return [[cell.strip() for cell in line.strip("| ").split(" | ")] for line in table.splitlines()]
