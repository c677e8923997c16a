"""The studio: a local server for one scene, and the page that shows it. docs/studio.md tells its protocol."""
