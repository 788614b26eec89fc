// Loads and stores with a cache hint: plain accesses here.
#pragma once
#define SIMT_LOAD(name) template <class T> SIMT_INL T name(const T* p) { return *p; }
#define SIMT_STORE(name) template <class T> SIMT_INL void name(T* p, typename simt_same<T>::type v) { *p = v; }
template <class T> struct simt_same { typedef T type; };
SIMT_LOAD(__ldg)
SIMT_LOAD(__ldca)
SIMT_LOAD(__ldcg)
SIMT_LOAD(__ldcs)
SIMT_LOAD(__ldcv)
SIMT_LOAD(__ldlu)
SIMT_STORE(__stwb)
SIMT_STORE(__stcg)
SIMT_STORE(__stcs)
SIMT_STORE(__stwt)
#undef SIMT_LOAD
#undef SIMT_STORE
// Address space questions: everything but shared memory is global here.
SIMT_INL unsigned __isGlobal(const void* p) {
    const char* c = static_cast<const char*>(p);
    return !(c >= simt_shared_begin && c < simt_dynamic + 232448);
}
SIMT_INL unsigned __isShared(const void* p) { return !__isGlobal(p); }
#define __builtin_assume(x) ((x) ? (void)0 : __builtin_unreachable())
#define __assume(x) ((x) ? (void)0 : __builtin_unreachable())
