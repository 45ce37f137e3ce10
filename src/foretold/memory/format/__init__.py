"""The file of one memory: reading and writing it byte for byte."""
