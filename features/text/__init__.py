"""Tools for texts in any language: words, sentences, statements, language identification."""
