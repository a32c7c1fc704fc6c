import torch
import torch.nn as nn
import torch.nn.functional as F
class Model(nn.Module):
    def __init__(self):
        super().__init__()
    def forward(self, x, y):
        crit = nn.CrossEntropyLoss(label_smoothing=0.1, ignore_index=2)
        kl = nn.KLDivLoss(reduction='batchmean', log_target=False)
        return crit(x, y), kl(F.log_softmax(x, 1), F.softmax(x * 2, 1)), F.nll_loss(F.log_softmax(x, 1), y, reduction='none'), F.binary_cross_entropy_with_logits(x, (x > 0).float(), pos_weight=torch.full((5,), 2.0)) if False else F.mse_loss(x, x * 2)

def get_inputs():
    return [torch.randn(4, 5), torch.randint(0, 5, (4,))]

def get_init_inputs():
    return []
