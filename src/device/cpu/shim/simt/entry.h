// From a kernel's function type to an entry that the host can call, and the description of its parameters.
#pragma once
template <class T> struct simt_element { static constexpr unsigned code = 0; };
#define SIMT_ELEMENT(T, n) template <> struct simt_element<T> { static constexpr unsigned code = n; };
SIMT_ELEMENT(double, 1)
SIMT_ELEMENT(float, 2)
SIMT_ELEMENT(long long, 5)
SIMT_ELEMENT(long, 5)
SIMT_ELEMENT(int, 6)
SIMT_ELEMENT(signed char, 7)
SIMT_ELEMENT(char, 7)
SIMT_ELEMENT(bool, 8)

template <class T> struct simt_bare { typedef T type; static constexpr bool is_const = false; };
template <class T> struct simt_bare<const T> { typedef T type; static constexpr bool is_const = true; };
template <class T> struct simt_bare<volatile T> { typedef T type; static constexpr bool is_const = false; };
template <class T> struct simt_bare<const volatile T> { typedef T type; static constexpr bool is_const = true; };
template <class T> struct simt_bare<T* __restrict__> { typedef T* type; static constexpr bool is_const = false; };

template <class T, bool is_enum = __is_enum(T)> struct simt_scalar { static constexpr unsigned kind = 0; };
template <class T> struct simt_scalar<T, true> {
    typedef __underlying_type(T) underlying;
    static constexpr unsigned kind = underlying(-1) < underlying(0) ? 2 : 3;
};
#define SIMT_SCALAR(T, n) template <> struct simt_scalar<T, false> { static constexpr unsigned kind = n; };
SIMT_SCALAR(bool, 5)
SIMT_SCALAR(float, 4)
SIMT_SCALAR(double, 4)
SIMT_SCALAR(char, 2)
SIMT_SCALAR(signed char, 2)
SIMT_SCALAR(short, 2)
SIMT_SCALAR(int, 2)
SIMT_SCALAR(long, 2)
SIMT_SCALAR(long long, 2)
SIMT_SCALAR(unsigned char, 3)
SIMT_SCALAR(unsigned short, 3)
SIMT_SCALAR(unsigned int, 3)
SIMT_SCALAR(unsigned long, 3)
SIMT_SCALAR(unsigned long long, 3)

template <class T> struct simt_describe {
    static constexpr simt_param value = {(unsigned)sizeof(T), simt_scalar<T>::kind, 0, 0};
};
template <class T> struct simt_describe<T*> {
    static constexpr simt_param value = {8, 1, simt_element<typename simt_bare<T>::type>::code,
                                         simt_bare<T>::is_const};
};

template <int...> struct simt_indices {};
template <int N, int... I> struct simt_count : simt_count<N - 1, N - 1, I...> {};
template <int... I> struct simt_count<0, I...> { typedef simt_indices<I...> type; };

template <auto F> struct simt_launcher {
    static_assert(sizeof(F) < 0, "a kernel must be a function that returns void");
};
template <class... P, void (*F)(P...)> struct simt_launcher<F> {
    // Plain numbers without an address, so that the host can read them from the object without running it.
    struct table {
        unsigned magic, index, len;
        simt_param params[sizeof...(P) + 1];
    };
    static constexpr table describe(unsigned index) {
        return table{0x504f5043, index, sizeof...(P), {simt_describe<typename simt_bare<P>::type>::value..., simt_param{0, 0, 0, 0}}};
    }

    // The arguments are locals here, so that the plain loop need not reload them after each store.
    SIMT_INL void loop(unsigned first, P... p) {
        const unsigned nx = blockDim.x, ny = blockDim.y, nz = blockDim.z;
        simt_context& here = simt_here;
        unsigned x = first % nx, y = first / nx % ny, z = first / (nx * ny);
        for (; z < nz; ++z, y = 0)
            for (; y < ny; ++y, x = 0) {
                here.tid.y = y;
                here.tid.z = z;
                for (; x < nx; ++x) {
                    here.tid.x = x;
                    // A fault must find the thread's index in memory, not in a register.
                    simt_compiler_barrier();
                    F(p...);
                    if (!here.plain) return;
                }
            }
    }
    template <int... I> SIMT_INL void unpack(void** args, unsigned first, simt_indices<I...>) {
        loop(first, *static_cast<typename simt_bare<P>::type*>(args[I])...);
    }
    static void run(void** args, unsigned first) {
        unpack(args, first, typename simt_count<(int)sizeof...(P)>::type());
    }
    static constexpr simt_entry entry(const char* name) { return simt_entry{name, run, sizeof...(P)}; }
};
