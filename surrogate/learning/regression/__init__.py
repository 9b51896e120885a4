"""The surrogates that regress ratings on features, forests and linear ones among them."""
