/* A library with the interface of a BLAS and nothing in it, which has a version and threads as BLIS has them: for test_blas. */
long threads_now = 4, least_threads = 4;

const char *bli_info_get_version_str(void);
long bli_thread_get_num_threads(void);
void bli_thread_set_num_threads(long number);
void cblas_sgemm(void), cblas_dgemm(void), cblas_sgemv(void), cblas_dgemv(void);

const char *bli_info_get_version_str(void)
{
    return "0.0-like";
}

long bli_thread_get_num_threads(void)
{
    return threads_now;
}

void bli_thread_set_num_threads(long number)
{
    threads_now = number;
    least_threads = number < least_threads ? number : least_threads;
}

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
