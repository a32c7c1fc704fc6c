/* Part of acl/acl.h. */
#pragma once
#include "acraft/bind/acl.h"
