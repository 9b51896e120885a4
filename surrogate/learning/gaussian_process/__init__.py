"""The Gaussian process over systems and languages: features, texts, kernels, the closed form."""
