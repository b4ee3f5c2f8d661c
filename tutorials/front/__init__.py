"""The pictures of the first page, drawn from the program that README.md shows.

`PYTHONPATH=tutorials python -m front` saves them: the hero, the logo, the favicon, and the card that a link to the site
shows elsewhere.
"""
