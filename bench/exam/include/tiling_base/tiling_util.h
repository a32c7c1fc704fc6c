/* Stands in for the header of this name, which the vendor's operators include on the host. */
#pragma once
#include "log/log.h"
