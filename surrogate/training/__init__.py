"""What small models learn from: sets of chats of an arena; tuning models on them by LoRA."""
