import numba as nb
import numpy as np
from numba import njit, types
from numba.extending import intrinsic
from typing import NamedTuple

AND, OR = 1, 2
NEVER = 1 << 20

@intrinsic
def popcount(typingctx, x):
    def codegen(context, builder, signature, args):
        return builder.ctpop(args[0])
    return types.uint64(types.uint64), codegen


ONE = np.uint64(1)


@njit(cache=True, nogil=True, forceinline=True)
def _weigh(a, b, lo, mid, hi, ww):
    """Weigh a and b over words lo to hi, of which those before mid weigh one a bit."""
    w, end = np.uint64(lo), np.uint64(mid)
    n = np.uint64(0)
    while w < end:
        n += popcount(a[w] & b[w])
        w += ONE
    total = np.int64(n)
    end = np.uint64(hi)
    while w < end:
        total += ww[w] * np.int64(popcount(a[w] & b[w]))
        w += ONE
    return total


class Bank(NamedTuple):
    bits: np.ndarray
    size: np.ndarray
    top: np.ndarray
    op: np.ndarray
    left: np.ndarray
    right: np.ndarray
    slots: np.ndarray
    count: np.ndarray


@njit(cache=True, nogil=True, forceinline=True)
def _hash(words, n):
    h = np.uint64(0x9E3779B97F4A7C15)
    for w in range(n):
        h ^= words[w]
        h *= np.uint64(0xBF58476D1CE4E5B9)
        h ^= h >> np.uint64(29)
    return h ^ (h >> np.uint64(32))


@njit(cache=True, nogil=True)
def rehash(bank):
    mask = np.uint64(len(bank.slots) - 1)
    W = bank.bits.shape[1]
    bank.slots[:] = -1
    for c in range(bank.count[0]):
        h = _hash(bank.bits[c], W) & mask
        while bank.slots[h] >= 0:
            h = (h + np.uint64(1)) & mask
        bank.slots[h] = c


@njit(cache=True, nogil=True, forceinline=True)
def _enter(bank, full, z, k, op, x, y):
    W = len(full)
    side = np.int64(z[0] & np.uint64(1))
    if side:
        for w in range(W):
            z[w] ^= full[w]
    some = np.uint64(0)
    for w in range(W):
        some |= z[w]
    if some == np.uint64(0):
        return
    mask = np.uint64(len(bank.slots) - 1)
    h = _hash(z, W) & mask
    while bank.slots[h] >= 0:
        c = bank.slots[h]
        same = True
        for w in range(W):
            if bank.bits[c, w] != z[w]:
                same = False
                break
        if same:
            break
        h = (h + np.uint64(1)) & mask
    c = np.int64(bank.slots[h])
    if c < 0:
        c = bank.count[0]
        bank.count[0] += 1
        bank.slots[h] = c
        for w in range(W):
            bank.bits[c, w] = z[w]
        bank.size[2 * c + 1 - side] = k + 1
        bank.op[2 * c + 1 - side] = 3
        bank.top[2 * c + 1 - side] = 0
        bank.left[2 * c + 1 - side] = 2 * c + side
        bank.size[2 * c + side] = k + 1
    f = 2 * c + side
    if bank.size[f] > k:
        bank.size[f] = k
        bank.op[f] = op
        bank.top[f] = op
        bank.left[f] = x
        bank.right[f] = y
    elif bank.size[f] == k:
        bank.top[f] |= op


@njit(cache=True, nogil=True)
def combine(bank, full, xs, ys, same, k, start, budget):
    """Enter x and y, x or y for all pairs from position start; return the position where it stopped."""
    W = len(full)
    z = np.empty(W, np.uint64)
    n = len(ys)
    total = len(xs) * n
    capacity = len(bank.bits)
    p = start
    work = 0
    while p < total:
        if bank.count[0] + 2 > capacity or work > budget:
            return p
        i = p // n
        j = p - i * n
        if same and j <= i:
            p += i + 1 - j
            continue
        x, y = xs[i], ys[j]
        p += 1
        if x >> 1 == y >> 1:
            continue
        work += W + 8
        fx = full if x & 1 else None
        cx, cy = x >> 1, y >> 1
        for op in (AND, OR):
            if bank.top[x] & op:
                continue
            for w in range(W):
                a = bank.bits[cx, w]
                b = bank.bits[cy, w]
                if x & 1:
                    a ^= full[w]
                if y & 1:
                    b ^= full[w]
                z[w] = a & b if op == AND else a | b
            _enter(bank, full, z, k, op, x, y)
    return p


R0, R1, GA_, GB_, CM, RP, RM, CONN, LAST, NONLIT, NIT, KK, GA, BA, ITEM, LO, HI, POS, NW, NN, NS, NG, NU, PU = range(24)
NREG = 24


class Frames(NamedTuple):
    bits: np.ndarray
    size: np.ndarray
    top: np.ndarray
    upto: np.ndarray
    full: np.ndarray
    ww: np.ndarray
    opt: np.ndarray
    lits: np.ndarray
    mask: np.ndarray
    cmask: np.ndarray
    cww: np.ndarray
    seg: np.ndarray
    segw: np.ndarray
    moves: np.ndarray
    dest: np.ndarray
    shift: np.ndarray
    packed: np.ndarray
    g: np.ndarray
    b: np.ndarray
    E: np.ndarray
    reg: np.ndarray
    keys: np.ndarray
    items: np.ndarray
    best: np.ndarray
    ctl: np.ndarray
    tmp: np.ndarray
    cg: np.ndarray
    cb: np.ndarray
    buf: np.ndarray
    pq: np.ndarray
    ls: np.ndarray


@njit(cache=True, nogil=True, forceinline=True)
def _eidx(rp, rm):
    if rp > rm:
        return 3 * rp
    if rm > rp:
        return 3 * rm + 1
    return 3 * rp + 2


@njit(cache=True, nogil=True, forceinline=True)
def _order(oid, m2):
    return oid if oid < m2 else oid - (1 << 40)


@njit(cache=True, nogil=True, forceinline=True)
def _step(r, size, top, oid, conn):
    """Return the group and budgets after a step: R0, R1, a, b, cm, rp, rm."""
    cp = np.int64(size[oid])
    cm_ = np.int64(size[oid ^ 1])
    if top[oid] & conn:
        cp = NEVER
    if top[oid ^ 1] & (3 - conn):
        cm_ = NEVER
    if r[CONN] == conn:
        s0, s1, a, b, cm, first = r[R0], r[R1], r[GA_], r[GB_], r[CM], False
    else:
        s0, s1, a, b, cm, first = r[RP], r[RM], r[RP], r[RM], 0, True
    a = a - 1 - cp
    b = b - 1 - cm_
    if cp > a:
        a = -NEVER
    if cm_ > b:
        b = -NEVER
    cm = cm + 1 + min(cp, cm_)
    rp = max(a, b - 1)
    rm = max(b, a - 1)
    if not first:
        rp = max(rp, s1 - 1 - cm)
        rm = max(rm, s0 - 1 - cm)
        rp = max(rp, rm - 1)
        rm = max(rm, rp - 1)
    return s0, s1, a, b, cm, rp, rm


@njit(cache=True, nogil=True, forceinline=True)
def _pairs(L, xw, i0, iu, i1, o0, ou, o1, ww, gi, go, gi_all, go_all, slack, size, l0, l1, anyp, last, buf, tmp, out, ctl,
           tabled, pq, pi, do, ls):
    """gi, go: weights inside the hole; pi, po: of pairs at the node; di, do: of literals at the node."""
    m2 = len(L)
    n = 0
    for x in range(last + 1, m2):
        if gi[x] <= gi_all - slack:
            continue
        if not anyp and size[x] + 2 > l0 and size[x ^ 1] + 2 > l1:
            continue
        buf[n] = x
        ls[0, n] = gi[x]
        ls[1, n] = go[x]
        n += 1
    for i in range(n - 1):
        x = buf[i]
        gix, gox = gi[x], go[x]
        # x and y miss what x misses, and hit at least the bad types that both must share.
        bound = slack - gi_all + gix + go_all - gox
        if gix <= gi_all - slack:
            continue
        ready = False
        for j in range(i + 1, n):
            if ls[1, j] >= bound:
                continue
            y = buf[j]
            floor = max(0, gox + ls[1, j] - go_all)
            if gi_all - min(gix, ls[0, j]) + floor >= slack or y == x ^ 1:
                continue
            ctl[13] += 1
            if tabled:
                # The weight of three literals is at most that of two, and at least what two pairs force to overlap.
                q = pq[x >> 1, y >> 1]
                k = 2 * (x & 1) + (y & 1)
                c = min(min(gix, ls[0, j]), q[k + pi])
                p = q[k + 4 - pi]
                floor = max(floor, max(gox + p - do[x], ls[1, j] + p - do[y]))
                if gi_all - c + floor >= slack:
                    continue
            if not anyp and size[x] + size[y] + 1 > l0 and size[x ^ 1] + size[y ^ 1] + 1 > l1:
                continue
            if not ready:
                lx = L[x]
                w, end = np.uint64(0), np.uint64(max(i1, o1))
                while w < end:
                    tmp[w] = xw[w] & lx[w]
                    w += ONE
                ready = True
            c = _weigh(tmp, L[y], i0, iu, i1, ww)
            ctl[3] += 1
            e = gi_all - c + floor
            if e >= slack:
                continue
            e += _weigh(tmp, L[y], o0, ou, o1, ww) - floor
            ctl[4] += 1
            if e < slack:
                slack = e
                out[0] = x
                out[1] = y
    return slack


@njit(cache=True, nogil=True, forceinline=True)
def _leaf(f, d, xw, g, b, gall, ball, K, s0, s1, a, bb, cm, rp, rm, conn, last, nonlit, item, tabled):
    """Try all pairs of literals in a hole; xw: its types in the layout of depth d."""
    m2 = f.lits.shape[2 - 1]
    W = f.reg[d, NW]
    nn = f.reg[d, NN]
    ww = f.cww[d]
    f.ctl[2] += 1
    for op in (AND, OR):
        l0, l1, anyp, lst = rp, rm, False, np.int64(-1)
        if op == conn:
            anyp = max(s0, s1) >= 4 + cm
            l0, l1 = a, bb
            if nonlit:
                l0, l1 = -NEVER, -NEVER
            else:
                lst = last
            if not anyp and max(l0, l1) < 3:
                continue
        slack = f.best[0] - K
        if op == AND:
            e = _pairs(f.lits[d], xw, 0, f.reg[d, NU], nn, nn, f.reg[d, PU], W, ww, g, b, gall, ball, slack, f.size, l0, l1, anyp, lst, f.buf, f.tmp[1], f.ctl[8:10], f.ctl,
                       tabled, f.pq, 0, f.b[d], f.ls)
        else:
            # x or y fails where u = not x and v = not y both hold; the order of literals is that of x and y.
            e = _pairs_or(f, d, xw, nn, W, ww, g, b, gall, ball, slack, l0, l1, anyp, lst, tabled)
        if e < slack:
            f.best[0] = e + K
            n = d
            for i in range(d):
                f.best[8 + i] = f.reg[i + 1, ITEM]
            if item >= 0:
                f.best[8 + n] = item
                n += 1
            f.best[1] = n
            f.best[2] = op
            f.best[3] = f.ctl[8]
            f.best[4] = f.ctl[9]


@njit(cache=True, nogil=True, forceinline=True)
def _pairs_or(f, d, xw, nn, W, ww, g, b, gall, ball, slack, l0, l1, anyp, lst, tabled):
    # Literals 2j, 2j+1 of one column are neighbours: from last + 1 on, both orientations of later columns qualify.
    last = lst | 1 if lst >= 0 else lst
    e = _pairs(f.lits[d], xw, nn, f.reg[d, PU], W, 0, f.reg[d, NU], nn, ww, b, g, ball, gall, slack, f.size, l1, l0, anyp, last, f.buf, f.tmp[1], f.ctl[8:10], f.ctl,
               tabled, f.pq, 4, f.g[d], f.ls)
    if e < slack:
        f.ctl[8] ^= 1
        f.ctl[9] ^= 1
    return e


@njit(cache=True, nogil=True, forceinline=True)
def _compress(f, d, src, out):
    """Carry words of depth d - 1's layout to depth d's."""
    W = f.reg[d - 1, NW]
    if f.packed[d] == 0:
        for w in range(W):
            out[w] = src[w] & f.cmask[d, w]
        return
    for w in range(f.reg[d, NW]):
        out[w] = 0
    for w in range(W):
        n = f.dest[d, w]
        if n < 0:
            continue
        x = src[w] & f.moves[d, w, 6]
        for i in range(6):
            t = x & f.moves[d, w, i]
            x = (x ^ t) | (t >> np.uint64(1 << i))
        s = f.shift[d, w]
        out[n] |= x << np.uint64(s)
        if s > 0:
            spill = x >> np.uint64(64 - s)
            if spill != 0:
                out[n + 1] |= spill


@njit(cache=True, nogil=True, forceinline=True)
def units(f, d):
    r = f.reg[d]
    ng = r[NG]
    r[NU] = f.seg[d, 1] if ng > 0 and f.segw[d, 0] == 1 else 0
    r[PU] = f.seg[d, ng + 1] if r[NS] > ng and f.segw[d, ng] == 1 else r[NN]


@njit(cache=True, nogil=True, forceinline=True)
def _plan(f, d, xw):
    """Lay out depth d as the types xw of depth d - 1."""
    r, q = f.reg[d], f.reg[d - 1]
    total = 0
    for k in range(q[NS]):
        c = np.int64(0)
        for w in range(f.seg[d - 1, k], f.seg[d - 1, k + 1]):
            c += np.int64(popcount(xw[w]))
        total += (c + 63) >> 6
    if 4 * total > 3 * q[NW]:
        f.packed[d] = 0
        r[NW], r[NN], r[NS], r[NG], r[NU], r[PU] = q[NW], q[NN], q[NS], q[NG], q[NU], q[PU]
        for w in range(q[NW]):
            f.cmask[d, w] = xw[w]
            f.cww[d, w] = f.cww[d - 1, w]
        for k in range(q[NS] + 1):
            f.seg[d, k] = f.seg[d - 1, k]
            if k < q[NS]:
                f.segw[d, k] = f.segw[d - 1, k]
        return
    f.packed[d] = 1
    ns, ng, at = 0, 0, 0
    f.seg[d, 0] = 0
    for k in range(q[NS]):
        bit = 0
        for w in range(f.seg[d - 1, k], f.seg[d - 1, k + 1]):
            m = xw[w]
            c = np.int64(popcount(m))
            if c == 0:
                f.dest[d, w] = -1
                continue
            f.dest[d, w] = at + (bit >> 6)
            f.shift[d, w] = bit & 63
            bit += c
            f.moves[d, w, 6] = m
            mk = ~m << np.uint64(1)
            for i in range(6):
                mp = mk ^ (mk << np.uint64(1))
                mp ^= mp << np.uint64(2)
                mp ^= mp << np.uint64(4)
                mp ^= mp << np.uint64(8)
                mp ^= mp << np.uint64(16)
                mp ^= mp << np.uint64(32)
                mv = mp & m
                f.moves[d, w, i] = mv
                m = (m ^ mv) | (mv >> np.uint64(1 << i))
                mk &= ~mp
        n = (bit + 63) >> 6
        if n == 0:
            continue
        for w in range(n):
            f.cww[d, at + w] = f.segw[d - 1, k]
            left = bit - 64 * w
            f.cmask[d, at + w] = ~np.uint64(0) if left >= 64 else (np.uint64(1) << np.uint64(left)) - np.uint64(1)
        f.segw[d, ns] = f.segw[d - 1, k]
        at += n
        ns += 1
        f.seg[d, ns] = at
        if k < q[NG]:
            ng += 1
    r[NW], r[NS], r[NG] = at, ns, ng
    r[NN] = f.seg[d, ng]
    units(f, d)


@njit(cache=True, nogil=True, forceinline=True)
def _count_literals(f, d):
    r = f.reg[d]
    W, nn = r[NW], r[NN]
    m2 = f.lits.shape[1]
    for x in range(0, m2, 2):
        c = _weigh(f.lits[d, x], f.cmask[d], 0, r[NU], nn, f.cww[d])
        e = _weigh(f.lits[d, x], f.cmask[d], nn, r[PU], W, f.cww[d])
        f.g[d, x], f.b[d, x] = c, e
        f.g[d, x + 1], f.b[d, x + 1] = r[GA] - c, r[BA] - e
        for w in range(W):
            f.lits[d, x + 1, w] = f.lits[d, x, w] ^ f.cmask[d, w]


@njit(cache=True, nogil=True, forceinline=True)
def _tabulate_pairs(f, d):
    """Weigh all pairs of literals at a node; raise the floors of holes that take a pair."""
    r = f.reg[d]
    W, nn = r[NW], r[NN]
    m2 = f.lits.shape[1]
    gall, ball = r[GA], r[BA]
    g, b = f.g[d], f.b[d]
    L, ww = f.lits[d], f.cww[d]
    low3p = low3m = low4 = np.int64(1) << 60
    for x in range(0, m2, 2):
        lx = L[x]
        for y in range(x + 2, m2, 2):
            c = _weigh(lx, L[y], 0, r[NU], nn, ww)
            e = _weigh(lx, L[y], nn, r[PU], W, ww)
            q = f.pq[x >> 1, y >> 1]
            q[0], q[1], q[2], q[3] = c, g[x] - c, g[y] - c, gall - g[x] - g[y] + c
            q[4], q[5], q[6], q[7] = e, b[x] - e, b[y] - e, ball - b[x] - b[y] + e
            for i in range(4):
                low = gall - q[i] + q[4 + i]
                other = ball - q[4 + i] + q[i]
                low4 = min(low4, min(low, other))
                u, v = x + (i >> 1), y + (i & 1)
                if f.size[u] == 1 and f.size[v] == 1:
                    low3p = min(low3p, low)
                    low3m = min(low3m, other)
                if f.size[u ^ 1] == 1 and f.size[v ^ 1] == 1:
                    low3p = min(low3p, other)
                    low3m = min(low3m, low)
    K = r[KK]
    f.E[d, 9] = max(f.E[d, 9], K + low3p)
    f.E[d, 10] = max(f.E[d, 10], K + low3m)
    f.E[d, 11] = max(f.E[d, 11], K + min(low3p, low3m))
    for i in range(12, 15):
        f.E[d, i] = max(f.E[d, i], K + low4)


@njit(cache=True, nogil=True, forceinline=True)
def _triples(f, d):
    """Try a literal step and a pair in a hole of five or six."""
    r = f.reg[d]
    m2 = f.lits.shape[1]
    gall, ball, K = r[GA], r[BA], r[KK]
    f.ctl[1] += 1
    _tabulate_pairs(f, d)
    for kept in range(m2):
        have = False
        for conn in (AND, OR):
            T = kept if conn == AND else kept ^ 1
            gx, bx = gall - f.g[d, kept], ball - f.b[d, kept]  # of the types that are decided
            cost, gain = (gx, bx) if conn == AND else (bx, gx)
            if K + cost >= f.best[0] or gx + bx == 0 or gx + bx == gall + ball:
                continue
            if conn == r[CONN] and T <= r[LAST]:
                continue
            s0, s1, a, bb, cm, rp, rm = _step(r, f.size, f.top, T, conn)
            if max(rp, rm) < 3:
                continue
            floor = max(f.E[d, _eidx(rp, rm)], f.opt[f.ctl[7] - min(r[RP] - rp, r[RM] - rm)])
            if floor - gain >= f.best[0]:
                continue
            if not have:
                have = True
                k = kept & 1
                for y in range(0, m2, 2):
                    if y < kept & ~1:
                        q = f.pq[y >> 1, kept >> 1]
                        f.cg[0, y], f.cb[0, y], f.cg[0, y + 1], f.cb[0, y + 1] = q[k], q[4 + k], q[2 + k], q[6 + k]
                    elif y > kept:
                        q = f.pq[kept >> 1, y >> 1]
                        k2 = 2 * k
                        f.cg[0, y], f.cb[0, y] = q[k2], q[4 + k2]
                        f.cg[0, y + 1], f.cb[0, y + 1] = q[k2 + 1], q[k2 + 5]
                    else:
                        f.cg[0, kept], f.cb[0, kept] = f.g[d, kept], f.b[d, kept]
                        f.cg[0, kept ^ 1], f.cb[0, kept ^ 1] = 0, 0
            nonlit = conn == r[CONN] and r[NONLIT] == 1
            _leaf(f, d, f.lits[d, kept], f.cg[0], f.cb[0], gall - gx, ball - bx, K + cost,
                  s0, s1, a, bb, cm, rp, rm, conn, T, nonlit, 4 * T + conn, True)


@njit(cache=True, nogil=True, forceinline=True)
def _offer(f, d, n, oid, gT, bT):
    """Write the children that put T around the hole, in both connectives, if their bounds allow."""
    r = f.reg[d]
    m2 = f.lits.shape[1]
    if gT + bT == 0 or gT + bT == r[GA] + r[BA]:
        return n
    for conn in (AND, OR):
        if conn == AND:
            cost, gain = r[GA] - gT, r[BA] - bT
        else:
            cost, gain = bT, gT
        if r[KK] + cost >= f.best[0]:
            continue
        if conn == r[CONN] and _order(oid, m2) <= r[LAST]:
            continue
        s0, s1, a, bb, cm, rp, rm = _step(r, f.size, f.top, oid, conn)
        if max(rp, rm) < 3:
            continue
        floor = max(f.E[d, _eidx(rp, rm)], f.opt[f.ctl[7] - min(r[RP] - rp, r[RM] - rm)]) - gain
        if floor >= f.best[0]:
            continue
        f.keys[n] = max(floor, r[KK] + cost)
        f.items[n] = 4 * oid + conn
        n += 1
    return n


@njit(cache=True, nogil=True)
def _probe(f, d):
    """Find the fewest errors that a hole of six leaves at a node, and raise the floors of holes up to six."""
    r = f.reg[d]
    saved, kept = r.copy(), f.best.copy()
    _tabulate_pairs(f, d)
    r[CONN], r[LAST], r[NONLIT], r[RP], r[RM] = 0, -1, 0, 6, 6
    f.best[0] = min(f.E[d, 14], f.best[0] + r[GA] + r[BA])
    _triples(f, d)
    e = f.best[0]
    r[:] = saved
    f.best[:] = kept
    for i in range(15, 21):
        f.E[d, i] = max(f.E[d, i], e)


@njit(cache=True, nogil=True)
def expand(f, d):
    """Write the children of a node, the most promising first."""
    r = f.reg[d]
    m2 = f.lits.shape[1]
    W, nn = f.bits.shape[1], f.ctl[6]
    n = r[LO]
    mask = f.mask[d]
    if max(r[RP], r[RM]) >= f.ctl[11]:
        _probe(f, d)
    for x in range(m2):
        n = _offer(f, d, n, x, f.g[d, x], f.b[d, x])
    limit = (max(r[RP], r[RM]) - 1) // 2
    if r[NIT] > 0:
        limit = max(limit, min((max(r[R0], r[R1]) - 1) // 2, max(r[R0], r[R1]) - r[CM] - 5))
    limit = min(limit, len(f.upto) - 1)
    f.ctl[5] += f.upto[limit]
    for c in range(m2 // 2, f.upto[limit]):
        gT = _weigh(f.bits[c], mask, 0, f.reg[0, NU], nn, f.ww)
        bT = _weigh(f.bits[c], mask, nn, f.reg[0, PU], W, f.ww)
        n = _offer(f, d, n, 2 * c, gT, bT)
        n = _offer(f, d, n, 2 * c + 1, r[GA] - gT, r[BA] - bT)
    lo = r[LO]
    f.ctl[12] += 1
    f.ctl[14] += n - lo
    order = np.argsort(f.keys[lo:n], kind="mergesort")
    keys, items = f.keys[lo:n].copy(), f.items[lo:n].copy()
    for i in range(n - lo):
        f.keys[lo + i] = keys[order[i]]
        f.items[lo + i] = items[order[i]]
    r[HI] = n
    r[POS] = lo


@njit(cache=True, nogil=True)
def run(f, budget):
    """Search until done or the budget is spent; ctl[0] is the depth, -1 when done."""
    m2 = f.lits.shape[1]
    W0 = f.bits.shape[1]
    start = f.ctl[1] * 10 + f.ctl[2] + f.ctl[3] // 10 + f.ctl[5] // 10
    while f.ctl[0] >= 0:
        if f.ctl[1] * 10 + f.ctl[2] + f.ctl[3] // 10 + f.ctl[5] // 10 - start > budget:
            return
        d = f.ctl[0]
        r = f.reg[d]
        if r[POS] >= r[HI] or f.keys[r[POS]] >= f.best[0]:
            f.ctl[0] -= 1
            continue
        item = f.items[r[POS]]
        r[POS] += 1
        conn, oid = item & 3, item >> 2
        s0, s1, a, bb, cm, rp, rm = _step(r, f.size, f.top, oid, conn)
        W, nn = r[NW], r[NN]
        if oid < m2:
            kept = oid if conn == AND else oid ^ 1
            xw = f.lits[d, kept]
        else:
            xw = f.tmp[2]
            for w in range(W0):
                xw[w] = f.bits[oid >> 1, w]
                if (oid & 1) ^ (conn == OR):
                    xw[w] ^= f.full[w]
            for e in range(1, d + 1):
                _compress(f, e, xw, f.tmp[3])
                for w in range(f.reg[e, NW]):
                    xw[w] = f.tmp[3][w]
        gk = _weigh(xw, f.cmask[d], 0, r[NU], nn, f.cww[d])
        bk = _weigh(xw, f.cmask[d], nn, r[PU], W, f.cww[d])
        if conn == AND:
            cost, gain = r[GA] - gk, r[BA] - bk
        else:
            cost, gain = r[BA] - bk, r[GA] - gk
        nonlit = oid >= m2 or (conn == r[CONN] and r[NONLIT] == 1)
        if max(rp, rm) <= 4:
            for y in range(0, m2, 2):
                c = _weigh(xw, f.lits[d, y], 0, r[NU], nn, f.cww[d])
                e_ = _weigh(xw, f.lits[d, y], nn, r[PU], W, f.cww[d])
                f.cg[0, y], f.cb[0, y] = c, e_
                f.cg[0, y + 1], f.cb[0, y + 1] = gk - c, bk - e_
            _leaf(f, d, xw, f.cg[0], f.cb[0], gk, bk, r[KK] + cost, s0, s1, a, bb, cm, rp, rm, conn,
                  _order(oid, m2), nonlit, item, False)
            continue
        q = f.reg[d + 1]
        q[R0], q[R1], q[GA_], q[GB_], q[CM], q[RP], q[RM] = s0, s1, a, bb, cm, rp, rm
        q[CONN], q[LAST], q[NONLIT] = conn, _order(oid, m2), nonlit
        q[NIT] = r[NIT] + 1 if conn == r[CONN] else 1
        q[KK], q[GA], q[BA], q[ITEM] = r[KK] + cost, gk, bk, item
        for i in range(f.E.shape[1]):
            f.E[d + 1, i] = f.E[d, i] - gain
        _plan(f, d + 1, xw)
        for y in range(0, m2, 2):
            _compress(f, d + 1, f.lits[d, y], f.lits[d + 1, y])
        _count_literals(f, d + 1)
        if max(rp, rm) <= 6:
            _triples(f, d + 1)
            continue
        side = (oid & 1) ^ (conn == OR)
        c = oid >> 1
        for w in range(W0):
            t = f.bits[c, w]
            if side:
                t ^= f.full[w]
            f.mask[d + 1, w] = f.mask[d, w] & t
        q[LO] = r[HI]
        expand(f, d + 1)
        f.ctl[0] += 1
