"""Tables on pages: measured by programs, kept with their options, and written to the pages that show them."""
