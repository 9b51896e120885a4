"""What all prompts to LLMs share: templates, and fences around the text of others."""

from arena.prompts.fences import fence_code
from arena.prompts.templates import PromptTemplate, packaged_prompt, read_template

__all__ = ["PromptTemplate", "fence_code", "packaged_prompt", "read_template"]
