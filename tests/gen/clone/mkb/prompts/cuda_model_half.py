# model half
