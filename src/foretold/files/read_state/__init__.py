"""What a model knows of files, and the tools that read and change them."""
