"""Everything that starts a process, loads a model or opens a socket. Contracts: protocols.py."""
