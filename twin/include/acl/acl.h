/* Kernel files that include the host runtime's header use nothing of it on the device. */
#pragma once
#include <cstddef>
#include <cstdint>
typedef void *aclrtStream;
typedef int aclError;
