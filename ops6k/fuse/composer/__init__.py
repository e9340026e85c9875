"""The built-in composer: recipes (data) drawn by quota, tried on numbers, written as a person might, fitted to the target."""
