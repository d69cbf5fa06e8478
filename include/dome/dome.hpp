/* Loops over distributed vectors in C++ (14 and later): the macros of map.h and loop.h as functions
 * that take a function, mostly a lambda.
 *
 *     dome::map(z, [=](double x, double y) { return a * x + y; }, x, y);          z = a x + y
 *     dome::map(z, [=](std::int64_t i) { return x0 + h * double(i); });           a function of the index
 *     double s = dome::sum([](double x, double y) { return x * y; }, x, y);       the sum, on all tasks
 *     double s = dome::map_sum(z, [](double x) { return std::exp(-x); }, x);      both in one pass
 *     dome::for_each([=](double &x, double &v, double a) { v += dt * a; x += dt * v; }, x, v, a);
 *     dome::for_rows([&](dome::row<std::uint8_t> label, dome::row<const double> point) {
 *         label[0] = nearest(centres, point);
 *     }, label, point);
 *     auto p = dome::sum_rows([](dome::row<const double> m, dome::row<const double> v) {
 *         return std::array<double, 2>{m[0] * v[0], m[0] * v[1]};                 several sums at once
 *     }, m, v);
 *
 * The function is called once for each value, or in for_rows and sum_rows for each element. It has
 * one parameter for each vector: vectors are dvec *, and may be const dvec * where they are only read.
 * - map, map_sum, sum, for_each: a parameter of type T, or const T &, is a value of a vector of type T.
 *   One of type T & may be changed, and changes the vector. (map and map_sum write z alone.)
 * - for_rows, sum_rows: a dome::row<T> has the width values of an element of type T, which may be
 *   changed; a dome::row<const T> may not.
 * - One parameter more than vectors: the first one is the index of the element, a std::int64_t.
 * Types are those of the vectors: basic types, std::complex<float> and <double>, or a struct type of
 * the program. map's z has the type that the function returns, and DOME_U8 if that is bool. A sum is of
 * doubles: the function returns a number, or a std::array<double, m> for m sums.
 *
 * All else is as for the macros: shapes, repeated operands, the bits of sums, what is collective, what
 * -O3 -march=native does, errors and their lines; where errors are returned, sums are then NaN. The
 * parameters must have types, so that they can be compared with the vectors': `auto` is refused by the
 * compiler. A function that throws leaves the loop before its end, which ends the program: the other
 * tasks count on it.
 *
 * Vectors have no class that frees them. dvec_free is collective: it has to be called on all tasks in
 * the same order. Destructors are not, where one task alone leaves a scope early (an exception, a
 * return on rank 0), and they may run after dome_finalize. The environment owns all vectors, and
 * dome_finalize frees them; dvec_free frees one earlier. */
#ifndef DOME_DOME_HPP
#define DOME_DOME_HPP

#include <dome/dome.h>

#include <array>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <type_traits>
#include <utility>

namespace dome
{

/* Values that lie one after the other and belong to somebody else (std::span of C++20). */
template <class T> class row
{
  public:
    using value_type = typename std::remove_const<T>::type;
    constexpr row(T *data, std::size_t size) : data_(data), size_(size)
    {
    }
    template <class U, class = typename std::enable_if<std::is_same<const U, T>::value>::type>
    constexpr row(const row<U> &other) : data_(other.data()), size_(other.size())
    {
    }
    constexpr T &operator[](std::size_t k) const
    {
        return data_[k];
    }
    constexpr T *data() const
    {
        return data_;
    }
    constexpr std::size_t size() const
    {
        return size_;
    }
    constexpr T *begin() const
    {
        return data_;
    }
    constexpr T *end() const
    {
        return data_ + size_;
    }

  private:
    T *data_;
    std::size_t size_;
};

/* The type of elements that are T in C++; NULL for structs. */
template <class T> inline dome_type type_of()
{
    return dvec_any_type_of_(static_cast<const T *>(nullptr));
}
template <> inline dome_type type_of<std::complex<float>>()
{
    return DOME_C64;
}
template <> inline dome_type type_of<std::complex<double>>()
{
    return DOME_C128;
}

/* All elements on every task, as dvec_allgather; empty on failure. Ends the program unless x is of type T. Collective. */
template <class T> inline row<const T> allgather(const dvec *x)
{
    if (x && (dome_type_size(dvec_type(x)) != sizeof(T) || (type_of<T>() && dvec_type(x) != type_of<T>())))
        dome_abort(dvec_env(x), "dome::allgather of '%s': its values are of type %s", dvec_name(x), dome_type_name(dvec_type(x)));
    const void *values = dvec_allgather(x);
    return row<const T>(static_cast<const T *>(values), values ? std::size_t(dvec_length(x)) * dvec_width(x) : 0);
}

namespace detail
{

/* ---- a function's parameters and result ---- */

template <class R, class... P> struct signature {
    using result = R;
    using parameters = std::tuple<P...>;
    static constexpr std::size_t count = sizeof...(P);
};

template <class F, class = void> struct function {
    static_assert(sizeof(F) == 0,
                  "the function's parameters need types: a generic lambda (auto) does not tell those of the vectors");
};
template <class M> struct member;
template <class C, class R, class... P> struct member<R (C::*)(P...)> : signature<R, P...> {
};
template <class C, class R, class... P> struct member<R (C::*)(P...) const> : signature<R, P...> {
};
template <class F> struct function<F, decltype(void(&F::operator()))> : member<decltype(&F::operator())> {
};
template <class R, class... P> struct function<R (*)(P...), void> : signature<R, P...> {
};
#ifdef __cpp_noexcept_function_type
template <class C, class R, class... P> struct member<R (C::*)(P...) noexcept> : signature<R, P...> {
};
template <class C, class R, class... P> struct member<R (C::*)(P...) const noexcept> : signature<R, P...> {
};
template <class R, class... P> struct function<R (*)(P...) noexcept, void> : signature<R, P...> {
};
#endif
template <class F> using function_of = function<typename std::decay<F>::type>;

template <class Tuple> struct first_of {
    using type = void;
};
template <class P, class... Others> struct first_of<std::tuple<P, Others...>> {
    using type = typename std::decay<P>::type;
};

/* Whether the first parameter is the index, of a function for so many vectors. */
template <class F, std::size_t vectors> struct takes_index {
    static constexpr std::size_t count = function_of<F>::count;
    static_assert(count == vectors || count == vectors + 1,
                  "the function has one parameter for each vector, and may have the index before them");
    static constexpr bool value = count == vectors + 1;
    static_assert(!value || std::is_same<typename first_of<typename function_of<F>::parameters>::type, std::int64_t>::value,
                  "with one parameter more than vectors the first is the index, a std::int64_t");
};

/* ---- parameters and operands ---- */

/* A value: P is T, const T & or T &. */
template <class P> struct value_parameter {
    static_assert(!std::is_pointer<P>::value && !std::is_rvalue_reference<P>::value, "a parameter is a value, const T & or T &");
    using plain = typename std::decay<P>::type;
    static constexpr bool changes =
        std::is_lvalue_reference<P>::value && !std::is_const<typename std::remove_reference<P>::type>::value;
    using type = typename std::conditional<changes, plain, const plain>::type;
};

/* A value that is read: P is T or const T &. */
template <class P> struct read_parameter : value_parameter<P> {
    static_assert(!value_parameter<P>::changes,
                  "the function of a map writes to no vector but the output: T or const T &, not T &");
};

/* A row: P is row<T> or row<const T>. */
template <class P> struct row_parameter {
    static_assert(sizeof(P) == 0, "the parameters for rows are dome::row<T> or dome::row<const T>");
};
template <class T> struct row_parameter<row<T>> {
    using type = T;
};
template <class T> struct row_parameter<const row<T> &> : row_parameter<row<T>> {
};

/* T without const: the loop may write to the vector. */
template <class T> struct operand {
    static dvec_operand of(dvec *x)
    {
        return {x, type_of<T>(), sizeof(T), DVEC_CHANGE};
    }
};
template <class T> struct operand<const T> {
    static dvec_operand of(const dvec *x)
    {
        return {x, type_of<T>(), sizeof(T), DVEC_READ};
    }
};

/* The type of the vector of parameter k, which comes after `skipped` others. */
template <class F, std::size_t k, std::size_t skipped, template <class> class Parameter>
using type_at = typename Parameter<typename std::tuple_element<k + skipped, typename function_of<F>::parameters>::type>::type;

/* ---- runs ---- */

/* A run that a function which throws leaves before its end. */
struct runs {
    dvec_run run;
    runs() = default;
    runs(const runs &) = delete;
    runs &operator=(const runs &) = delete;
    ~runs()
    {
        dvec_run_end(&run);
    }
};

/* Calls g(k, values...) for each value k of a run: with the index, where the function wants it. */
template <class G, class... T> inline void each_value(const dvec_run &run, std::false_type, G &&g, T *...x)
{
    const std::size_t count = run.values;
    for (std::size_t k = 0; k < count; k++)
        g(k, x[k]...);
}
template <class G, class... T> inline void each_value(const dvec_run &run, std::true_type, G &&g, T *...x)
{
    const std::size_t count = run.values, width = run.width, skipped = run.skipped;
    const std::int64_t first = std::int64_t(run.first);
    if (width == 1)
        for (std::size_t k = 0; k < count; k++)
            g(k, first + std::int64_t(k), x[k]...);
    else
        for (std::size_t k = 0; k < count; k++)
            g(k, first + std::int64_t((skipped + k) / width), x[k]...);
}

/* The values of a vector in a run by rows, and how many each row has. */
template <class T> struct column {
    T *at;
    std::size_t stride, width;
    row<T> operator[](std::size_t k) const
    {
        return row<T>(at + k * stride, width);
    }
};
template <class G, class... T> inline void each_row(const dvec_run &run, std::false_type, G &&g, column<T>... x)
{
    const std::size_t count = run.count;
    for (std::size_t k = 0; k < count; k++)
        g(k, x[k]...);
}
template <class G, class... T> inline void each_row(const dvec_run &run, std::true_type, G &&g, column<T>... x)
{
    const std::size_t count = run.count;
    const std::int64_t first = std::int64_t(run.first);
    for (std::size_t k = 0; k < count; k++)
        g(k, first + std::int64_t(k), x[k]...);
}

/* Visits all runs of vectors: g(k, index and values or rows) for each. */
template <class F, class G, std::size_t... k, class... V>
inline void visit_values(runs &r, std::size_t sums, G &&g, std::index_sequence<k...>, V *...x)
{
    using index = takes_index<F, sizeof...(V)>;
    const dvec_operand operands[] = {operand<type_at<F, k, index::value, value_parameter>>::of(x)...};
    for (bool more = dvec_run_over(&r.run, sizeof...(V), operands, sums, DVEC_RUN_IN_FUNCTION_); more;
         more = dvec_run_next(&r.run))
        each_value(r.run, std::integral_constant<bool, index::value>(), g,
                   static_cast<type_at<F, k, index::value, value_parameter> *>(r.run.at[k])...);
}

template <class F, class G, std::size_t... k, class... V>
inline void visit_rows(runs &r, std::size_t sums, G &&g, std::index_sequence<k...>, V *...x)
{
    using index = takes_index<F, sizeof...(V)>;
    const dvec_operand operands[] = {operand<type_at<F, k, index::value, row_parameter>>::of(x)...};
    const std::size_t widths[] = {(x ? dvec_width(x) : 0)...};
    for (bool more = dvec_run_over(&r.run, sizeof...(V), operands, sums, DVEC_RUN_ROWS | DVEC_RUN_IN_FUNCTION_); more;
         more = dvec_run_next(&r.run))
        each_row(r.run, std::integral_constant<bool, index::value>(), g,
                 column<type_at<F, k, index::value, row_parameter>>{
                     static_cast<type_at<F, k, index::value, row_parameter> *>(r.run.at[k]), r.run.stride[k], widths[k]}...);
}

/* The type of z, by what the function returns. */
template <class R> struct stored {
    using type = R;
};
template <> struct stored<bool> {
    using type = std::uint8_t;
};

/* The same with z before the others. */
template <class F, class G, std::size_t... k, class... V>
inline void visit_map(runs &r, std::size_t sums, G &&g, std::index_sequence<k...>, dvec *z, V *...x)
{
    using index = takes_index<F, sizeof...(V)>;
    using T = typename stored<typename std::decay<typename function_of<F>::result>::type>::type;
    dvec_operand operands[] = {operand<T>::of(z), operand<type_at<F, k, index::value, read_parameter>>::of(x)...};
    operands[0].access = DVEC_OVERWRITE;
    for (bool more = dvec_run_over(&r.run, 1 + sizeof...(V), operands, sums, DVEC_RUN_IN_FUNCTION_); more;
         more = dvec_run_next(&r.run)) {
        T *const out = static_cast<T *>(r.run.at[0]);
        each_value(
            r.run, std::integral_constant<bool, index::value>(),
            [&g, out](std::size_t v, auto &&...values) { g(v, out, values...); },
            static_cast<type_at<F, k, index::value, read_parameter> *>(r.run.at[k + 1])...);
    }
}

/* ---- sums ---- */

/* The terms that a function returns: a number, or several in an array. */
template <class R> struct terms {
    static_assert(std::is_arithmetic<R>::value, "the function of a sum returns a number or a std::array of doubles");
    static constexpr std::size_t count = 1;
    using sums = double;
    static void put(double *to, std::size_t, R value)
    {
        *to = static_cast<double>(value);
    }
    static double *data(sums &s)
    {
        return &s;
    }
};
template <std::size_t m> struct terms<std::array<double, m>> {
    static constexpr std::size_t count = m;
    using sums = std::array<double, m>;
    static void put(double *to, std::size_t apart, const std::array<double, m> &value)
    {
        for (std::size_t k = 0; k < m; k++)
            to[k * apart] = value[k];
    }
    static double *data(sums &s)
    {
        return s.data();
    }
};
template <class F> using terms_of = terms<typename std::decay<typename function_of<F>::result>::type>;

template <class F, class... V> using vectors = std::make_index_sequence<sizeof...(V)>;

} /* namespace detail */

/* z = f(values of x...). Collective in order. */
template <class F, class... V> inline void map(dvec *z, F &&f, V *...x)
{
    detail::runs r;
    detail::visit_map<F>(
        r, 0, [&f](std::size_t k, auto *out, auto &&...values) { out[k] = f(values...); }, detail::vectors<F, V...>(), z, x...);
}

/* The same, and the sum of z's values. Collective. */
template <class F, class... V> inline double map_sum(dvec *z, F &&f, V *...x)
{
    detail::runs r;
    double s = 0;
    detail::visit_map<F>(
        r, 1,
        [&f, &r](std::size_t k, auto *out, auto &&...values) { r.run.terms[k] = static_cast<double>(out[k] = f(values...)); },
        detail::vectors<F, V...>(), z, x...);
    dvec_run_sums(&r.run, &s);
    return s;
}

/* f(values of x...), which changes those that it takes as T &. Collective in order. */
template <class F, class... V> inline void for_each(F &&f, V *...x)
{
    detail::runs r;
    detail::visit_values<F>(
        r, 0, [&f](std::size_t, auto &&...values) { f(values...); }, detail::vectors<F, V...>(), x...);
}

/* The sum of f(values of x...), or several. Collective. */
template <class F, class... V> inline typename detail::terms_of<F>::sums sum(F &&f, V *...x)
{
    using terms = detail::terms_of<F>;
    detail::runs r;
    typename terms::sums s;
    detail::visit_values<F>(
        r, terms::count, [&f, &r](std::size_t k, auto &&...values) { terms::put(r.run.terms + k, r.run.values, f(values...)); },
        detail::vectors<F, V...>(), x...);
    dvec_run_sums(&r.run, terms::data(s));
    return s;
}

/* f(rows of x...). Collective in order. */
template <class F, class... V> inline void for_rows(F &&f, V *...x)
{
    detail::runs r;
    detail::visit_rows<F>(
        r, 0, [&f](std::size_t, auto &&...rows) { f(rows...); }, detail::vectors<F, V...>(), x...);
}

/* The sum of f(rows of x...), or several. Collective. */
template <class F, class... V> inline typename detail::terms_of<F>::sums sum_rows(F &&f, V *...x)
{
    using terms = detail::terms_of<F>;
    detail::runs r;
    typename terms::sums s;
    detail::visit_rows<F>(
        r, terms::count, [&f, &r](std::size_t k, auto &&...rows) { terms::put(r.run.terms + k, r.run.count, f(rows...)); },
        detail::vectors<F, V...>(), x...);
    dvec_run_sums(&r.run, terms::data(s));
    return s;
}

} /* namespace dome */
#endif
