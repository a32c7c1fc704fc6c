/* REG_OP and what is chained to it: the graph engine's declaration of an operator, of which a run needs nothing. */
#ifndef ACRAFT_HOST_OPERATOR_REG_H
#define ACRAFT_HOST_OPERATOR_REG_H

#include "acraft/host/ge.h"

namespace ge {
struct AcraftDeclaration {
    AcraftDeclaration say() const { return *this; }
};
}  // namespace ge

#define REG_OP(op) static const ::ge::AcraftDeclaration acraft_declared_##op = ::ge::AcraftDeclaration()
#define INPUT(...) say()
#define OPTIONAL_INPUT(...) say()
#define DYNAMIC_INPUT(...) say()
#define OUTPUT(...) say()
#define DYNAMIC_OUTPUT(...) say()
#define ATTR(...) say()
#define REQUIRED_ATTR(...) say()
#define DATATYPE(...) say()
#define GRAPH(...) say()
#define DYNAMIC_GRAPH(...) say()
#define OP_END_FACTORY_REG(op) say();

#endif
