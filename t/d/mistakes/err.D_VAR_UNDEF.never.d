/* A variable that nothing assigns. */
BEGIN { trace(this->begun); }
