"""The command line: one thin module per subcommand. Nothing outside this folder prints."""
