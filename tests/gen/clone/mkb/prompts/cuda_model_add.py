# model add
