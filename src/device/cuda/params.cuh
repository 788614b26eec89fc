struct __half;
struct __nv_bfloat16;
namespace popcorn {
template <class T> struct element { static constexpr unsigned code = 0; };
template <> struct element<double> { static constexpr unsigned code = 1; };
template <> struct element<float> { static constexpr unsigned code = 2; };
template <> struct element<__half> { static constexpr unsigned code = 3; };
template <> struct element<__nv_bfloat16> { static constexpr unsigned code = 4; };
template <> struct element<long long> { static constexpr unsigned code = 5; };
template <> struct element<long> { static constexpr unsigned code = 5; };
template <> struct element<int> { static constexpr unsigned code = 6; };
template <> struct element<signed char> { static constexpr unsigned code = 7; };
template <> struct element<char> { static constexpr unsigned code = 7; };
template <> struct element<bool> { static constexpr unsigned code = 8; };

template <class T> struct bare { typedef T type; static constexpr bool is_const = false; };
template <class T> struct bare<const T> { typedef T type; static constexpr bool is_const = true; };
template <class T> struct bare<volatile T> { typedef T type; static constexpr bool is_const = false; };
template <class T> struct bare<const volatile T> { typedef T type; static constexpr bool is_const = true; };

template <class T, bool is_enum = __is_enum(T)> struct scalar { static constexpr unsigned kind = 0; };
template <class T> struct scalar<T, true> {
    typedef __underlying_type(T) underlying;
    static constexpr unsigned kind = underlying(-1) < underlying(0) ? 2 : 3;
};
template <> struct scalar<bool, false> { static constexpr unsigned kind = 5; };
template <> struct scalar<float, false> { static constexpr unsigned kind = 4; };
template <> struct scalar<double, false> { static constexpr unsigned kind = 4; };
template <> struct scalar<__half, false> { static constexpr unsigned kind = 4; };
template <> struct scalar<__nv_bfloat16, false> { static constexpr unsigned kind = 4; };
template <> struct scalar<char, false> { static constexpr unsigned kind = 2; };
template <> struct scalar<signed char, false> { static constexpr unsigned kind = 2; };
template <> struct scalar<short, false> { static constexpr unsigned kind = 2; };
template <> struct scalar<int, false> { static constexpr unsigned kind = 2; };
template <> struct scalar<long, false> { static constexpr unsigned kind = 2; };
template <> struct scalar<long long, false> { static constexpr unsigned kind = 2; };
template <> struct scalar<unsigned char, false> { static constexpr unsigned kind = 3; };
template <> struct scalar<unsigned short, false> { static constexpr unsigned kind = 3; };
template <> struct scalar<unsigned int, false> { static constexpr unsigned kind = 3; };
template <> struct scalar<unsigned long, false> { static constexpr unsigned kind = 3; };
template <> struct scalar<unsigned long long, false> { static constexpr unsigned kind = 3; };

struct param { unsigned size, kind, element, is_const; };
template <class T> struct describe {
    static constexpr param value = {(unsigned)sizeof(T), scalar<T>::kind, 0, 0};
};
template <class T> struct describe<T*> {
    static constexpr param value = {8, 1, element<typename bare<T>::type>::code, bare<T>::is_const};
};

template <class F> struct table { static_assert(sizeof(F) < 0, "a kernel must be a function that returns void"); };
template <class... P> struct table<void (*)(P...)> {
    unsigned magic, index, len;
    param params[sizeof...(P) + 1];
    static __device__ constexpr table make(unsigned index) {
        return table{0x504f5043, index, sizeof...(P), {describe<typename bare<P>::type>::value..., param{0, 0, 0, 0}}};
    }
};
}  // namespace popcorn
