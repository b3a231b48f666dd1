#ifndef SEVEN_H
#define SEVEN_H
#define FROM_INCLUDE 7
#endif
