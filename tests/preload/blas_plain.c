/* A library with the interface of a BLAS and nothing in it, which says nothing of itself: for test_blas. */
void cblas_sgemm(void), cblas_dgemm(void), cblas_sgemv(void), cblas_dgemv(void);

void cblas_sgemm(void)
{
}

void cblas_dgemm(void)
{
}

void cblas_sgemv(void)
{
}

void cblas_dgemv(void)
{
}
