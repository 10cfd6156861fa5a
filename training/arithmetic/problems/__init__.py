"""The problems of arithmetic: numbers as digits, their layout as tokens, and the tasks."""
