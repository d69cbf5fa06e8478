#pragma dome numbers
int f(void);
#pragma dome dangling
typedef int t;
int main(void) { return 0; }
