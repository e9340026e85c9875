"""placeholder"""
def harvest_transformers(t): raise NotImplementedError
