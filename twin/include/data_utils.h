/* The helpers of sample programs that bring no copy of their own. */
#pragma once
#include "acraft/bind/files.h"
#include <cstdio>
#include <fstream>
#include <iostream>
#include <vector>

#define INFO_LOG(fmt, ...) fprintf(stdout, "[INFO]  " fmt "\n", ##__VA_ARGS__)
#define WARN_LOG(fmt, ...) fprintf(stdout, "[WARN]  " fmt "\n", ##__VA_ARGS__)
#define ERROR_LOG(fmt, ...) fprintf(stdout, "[ERROR]  " fmt "\n", ##__VA_ARGS__)
#define CHECK_ACL(x) ((void)(x))
