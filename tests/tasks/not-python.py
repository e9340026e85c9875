# invalid/syntax
# ops: nn.ReLU
# Does not parse.
import torch
class Model(:
    pass
