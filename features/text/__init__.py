"""Words, sentences, statements and languages of texts."""
