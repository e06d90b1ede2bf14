/* The functions of complex numbers that NumPy takes from C's library and wine's lacks: plain formulas, for tests alone. */
#pragma once
#include <math.h>

#define COMPLEX_FUNCTIONS(number, f) \
    typedef number _Complex z##f; \
    static z##f made##f(number re, number im) { z##f a; __real__ a = re; __imag__ a = im; return a; } \
    number ours_creal##f(z##f a) { return __real__ a; } \
    number ours_cimag##f(z##f a) { return __imag__ a; } \
    number ours_cabs##f(z##f a) { return (number)hypot(__real__ a, __imag__ a); } \
    number ours_carg##f(z##f a) { return (number)atan2(__imag__ a, __real__ a); } \
    z##f ours_conj##f(z##f a) { return made##f(__real__ a, -__imag__ a); } \
    z##f ours_cexp##f(z##f a) { number s = (number)exp(__real__ a); return made##f(s * (number)cos(__imag__ a), s * (number)sin(__imag__ a)); } \
    z##f ours_clog##f(z##f a) { return made##f((number)log(ours_cabs##f(a)), ours_carg##f(a)); } \
    z##f ours_csqrt##f(z##f a) { number r = ours_cabs##f(a); \
        return made##f((number)sqrt((r + __real__ a) / 2), (number)copysign(sqrt((r - __real__ a) / 2), __imag__ a)); } \
    z##f ours_cpow##f(z##f a, z##f b) { return ours_cabs##f(a) == 0 ? made##f(ours_cabs##f(b) == 0, 0) : ours_cexp##f(b * ours_clog##f(a)); } \
    z##f ours_csinh##f(z##f a) { return (ours_cexp##f(a) - ours_cexp##f(-a)) / 2; } \
    z##f ours_ccosh##f(z##f a) { return (ours_cexp##f(a) + ours_cexp##f(-a)) / 2; } \
    z##f ours_ctanh##f(z##f a) { return ours_csinh##f(a) / ours_ccosh##f(a); } \
    z##f ours_csin##f(z##f a) { z##f b = ours_csinh##f(made##f(-__imag__ a, __real__ a)); return made##f(__imag__ b, -__real__ b); } \
    z##f ours_ccos##f(z##f a) { return ours_ccosh##f(made##f(-__imag__ a, __real__ a)); } \
    z##f ours_ctan##f(z##f a) { return ours_csin##f(a) / ours_ccos##f(a); } \
    z##f ours_casinh##f(z##f a) { return ours_clog##f(a + ours_csqrt##f(a * a + 1)); } \
    z##f ours_cacosh##f(z##f a) { return ours_clog##f(a + ours_csqrt##f(a + 1) * ours_csqrt##f(a - 1)); } \
    z##f ours_catanh##f(z##f a) { return (ours_clog##f(1 + a) - ours_clog##f(1 - a)) / 2; } \
    z##f ours_casin##f(z##f a) { z##f b = ours_casinh##f(made##f(-__imag__ a, __real__ a)); return made##f(__imag__ b, -__real__ b); } \
    z##f ours_cacos##f(z##f a) { z##f b = ours_casin##f(a); return made##f((number)1.5707963267948966 - __real__ b, -__imag__ b); } \
    z##f ours_catan##f(z##f a) { z##f b = ours_catanh##f(made##f(-__imag__ a, __real__ a)); return made##f(__imag__ b, -__real__ b); }

COMPLEX_FUNCTIONS(double, )
COMPLEX_FUNCTIONS(float, f)
