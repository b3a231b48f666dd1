/* A storage class alone declares nothing of a type. */
extern x;
