"""Pictures and tables of what other rooms computed; matplotlib is loaded only when something is drawn."""
