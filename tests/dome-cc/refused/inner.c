/* Functions inside of functions are gcc's, and libclang does not know them. */
static int spin(int n)
{
    while (n > 3)
        n -= 2;
    return n;
}

int main(void)
{
    int k = 2;
    int inner(int n)
    { // REFUSED: not C as libclang knows it: function definition is not allowed here
        return spin(n) + k;
    }
    return inner(5);
}
