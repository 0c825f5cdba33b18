// A program needs a file; what counts are the headers that are compiled with it.
int main() { return 0; }
