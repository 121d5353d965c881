"""From figures to sentences: findings, their place in the user's code, the verdict."""
