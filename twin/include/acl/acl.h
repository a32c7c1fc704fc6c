/* The host runtime's header. Kernel files that include it use nothing of it on the device. */
#pragma once
#include "acraft/bind/acl.h"
