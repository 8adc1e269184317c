"""The adapters: code that touches disk, network and processes; the library is in `library`."""
