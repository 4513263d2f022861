"""What is known about ill trainings: symptoms, causes, checks and flows, as data in two languages.

Beside the data only pure functions. They look at no run and ask nobody: what was seen comes in as observations, what
was answered as verdicts.
"""
