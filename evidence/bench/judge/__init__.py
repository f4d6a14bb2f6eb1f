"""The filter without a language model: the examples it learns from, its training, its export."""
