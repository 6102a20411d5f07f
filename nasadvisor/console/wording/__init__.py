"""The words and badges of states, statements and codes, in the language of the page."""
