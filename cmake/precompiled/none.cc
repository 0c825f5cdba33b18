// A target of precompiled headers needs a source file; only the headers matter.
int main() { return 0; }
