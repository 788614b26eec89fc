//! Operations among the lanes of a warp: each lane leaves its value, the last arriver computes every lane's result.

use std::ffi::{c_char, c_int, c_uint, c_ulonglong};

use super::report::{Fault, fail, short};
use super::sched::{Sched, State, Warp, sched, site, suspend, suspend_idle};

/// Names by `simt_warp_op` code.
const NAMES: [&str; 18] = [
    "__syncwarp",
    "__shfl_sync",
    "__shfl_up_sync",
    "__shfl_down_sync",
    "__shfl_xor_sync",
    "__ballot_sync",
    "__all_sync",
    "__any_sync",
    "__match_any_sync",
    "__match_all_sync",
    "__reduce_add_sync",
    "__reduce_min_sync",
    "__reduce_max_sync",
    "__reduce_min_sync",
    "__reduce_max_sync",
    "__reduce_and_sync",
    "__reduce_or_sync",
    "__reduce_xor_sync",
];

pub(super) fn name(op: u8) -> &'static str {
    NAMES.get(usize::from(op)).copied().unwrap_or("warp operation")
}

/// Lanes of a mask, lowest first.
struct Lanes(u32);

impl Iterator for Lanes {
    type Item = usize;
    #[inline(always)]
    fn next(&mut self) -> Option<usize> {
        if self.0 == 0 {
            return None;
        }
        let lane = self.0.trailing_zeros();
        self.0 &= self.0 - 1;
        Some(lane as usize)
    }
}

/// One lane's arrival at a warp operation; returns its result. `op_width` is the operation and 256 times the width.
pub(super) unsafe extern "C" fn warp(
    op_width: c_uint,
    mask: c_uint,
    value: c_ulonglong,
    param: c_int,
    line: c_int,
    file: *const c_char,
) -> u64 {
    let s = sched();
    // SAFETY: kernels run only while a scheduler is set; no reference into it survives the switch.
    unsafe {
        if !(*s).fibers {
            return first_warp(op_width, mask, value, param, line, file);
        }
        let (op, width) = (op_width as u8, (op_width >> 8) as i32);
        let current = (*s).current;
        let (index, lane) = (current >> 5, current & 31);
        let t = (*s).thread(current);
        t.state = State::AtWarp;
        t.op = op;
        t.line = line;
        t.file = file;
        t.mask = mask;
        if mask >> lane & 1 == 0 || width & (width - 1) != 0 || !(1..=32).contains(&width) {
            bad_call(op, mask, lane, width, line, file);
        }
        let w = (*s).warp(index);
        w.value[lane as usize] = value;
        w.param[lane as usize] = param;
        w.width[lane as usize] = width;
        if w.at_warp == 0 {
            (w.op, w.mask, w.mixed) = (op, mask, false);
        } else if w.op != op || w.mask != mask {
            w.mixed = true;
        }
        w.at_warp |= 1 << lane;
        if w.mixed || w.at_warp == mask & w.live { last_lane(s, mask) } else { suspend(s) }
    }
}

/// The first warp operation of a launch on this worker: its blocks are fibers from here on.
#[cold]
#[inline(never)]
unsafe fn first_warp(
    op_width: c_uint,
    mask: c_uint,
    value: u64,
    param: c_int,
    line: c_int,
    file: *const c_char,
) -> u64 {
    let s = sched();
    // SAFETY: as in `warp`.
    unsafe {
        (*s).leave_plain_loop();
        (*s).fibers = true;
        warp(op_width, mask, value, param, line, file)
    }
}

/// Completes the operation if all lanes of `mask` are there, and goes on without a switch; else waits.
#[inline(never)]
unsafe fn last_lane(s: *mut Sched, mask: u32) -> u64 {
    // SAFETY: as in `warp`.
    unsafe {
        let current = (*s).current;
        let index = current >> 5;
        let group = if (*s).warp(index).mixed { (*s).group_of(index, mask) } else { (*s).warp(index).at_warp };
        if group == 0 {
            return suspend(s);
        }
        (*s).complete(index, group);
        (*s).clear_ready(current);
        (*s).thread(current).state = State::Running;
        (*s).value_of(current)
    }
}

#[cold]
fn bad_call(op: u8, mask: u32, lane: u32, width: c_int, line: c_int, file: *const c_char) {
    let what = if mask >> lane & 1 == 0 {
        format!("{}: mask 0x{mask:08x} does not name the calling lane {lane}", name(op))
    } else {
        format!("{}: width {width} is not a power of two up to 32", name(op))
    };
    fail(Fault::new(what).at(site(file, line)));
}

impl Sched {
    /// The waiting lanes that came with `mask`, if that is all of them that live; else 0.
    fn group_of(&mut self, index: u32, mask: u32) -> u32 {
        let (waiting, live) = (self.warp(index).at_warp, self.warp(index).live);
        let group = Lanes(waiting & mask)
            .filter(|lane| self.thread(index * 32 + *lane as u32).mask == mask)
            .fold(0, |group, lane| group | 1 << lane);
        if group == mask & live { group } else { 0 }
    }

    /// A thread has exited: groups that waited only for it complete.
    #[cold]
    pub(super) fn complete_after_exit(&mut self, index: u32) {
        loop {
            let waiting = self.warp(index).at_warp;
            let group = Lanes(waiting).find_map(|lane| {
                let mask = self.thread(index * 32 + lane as u32).mask;
                Some(self.group_of(index, mask)).filter(|group| *group != 0)
            });
            match group {
                Some(group) => self.complete(index, group),
                None => return,
            }
        }
    }

    /// Computes the results of the lanes in `group` and makes them ready.
    #[inline]
    fn complete(&mut self, index: u32, group: u32) {
        let w = self.warp(index);
        let mixed = w.mixed;
        let op = if mixed { self.op_of(index, group) } else { w.op };
        let w = self.warp(index);
        compute(w, op, group);
        w.at_warp &= !group;
        self.set_ready(index, group);
    }

    /// The operation all lanes of a group came for; a fault if they differ.
    #[cold]
    fn op_of(&mut self, index: u32, group: u32) -> u8 {
        let first = index * 32 + group.trailing_zeros();
        let op = self.thread(first).op;
        for lane in Lanes(group) {
            let other = index * 32 + lane as u32;
            if self.thread(other).op != op {
                let there =
                    self.site(first).map_or_else(String::new, |(file, line)| format!(" at {}:{line}", short(&file)));
                fail(
                    Fault::new(format!(
                        "lanes of one warp meet in different operations: lane {lane} in {}, lane {} in {}{there}",
                        name(self.thread(other).op),
                        first & 31,
                        name(op)
                    ))
                    .at(self.site(other)),
                );
            }
        }
        op
    }
}

/// Replaces `value` of the lanes in `group` by their results.
#[inline(always)]
fn compute(w: &mut Warp, op: u8, group: u32) {
    if (1..=4).contains(&op) {
        let old = w.value;
        for lane in Lanes(group) {
            let (param, width) = (w.param[lane], w.width[lane]);
            let at = lane as i32;
            let base = at & !(width - 1);
            let source = match op {
                1 => base + (param & (width - 1)),
                2 if at - param >= base => at - param,
                3 if at.wrapping_add(param) < base + width && param >= 0 => at + param,
                4 if at ^ param < base + width && param >= 0 => at ^ param,
                _ => at,
            };
            // A source outside the group has an undefined value on a GPU; here the lane keeps its own.
            if (0..32).contains(&source) && group >> source & 1 != 0 {
                w.value[lane] = old[source as usize];
            }
        }
        return;
    }
    let everyone = |w: &mut Warp, result: u64| Lanes(group).for_each(|lane| w.value[lane] = result);
    match op {
        0 => {}
        5..=7 => {
            let votes = Lanes(group).filter(|lane| w.value[*lane] != 0).fold(0u32, |votes, lane| votes | 1 << lane);
            let result = match op {
                5 => votes,
                6 => u32::from(votes == group),
                _ => u32::from(votes != 0),
            };
            everyone(w, u64::from(result));
        }
        8 => {
            let old = w.value;
            for lane in Lanes(group) {
                let same =
                    Lanes(group).filter(|other| old[*other] == old[lane]).fold(0u32, |same, other| same | 1 << other);
                w.value[lane] = u64::from(same);
            }
        }
        9 => {
            let first = w.value[group.trailing_zeros() as usize];
            let all = Lanes(group).all(|lane| w.value[lane] == first);
            everyone(w, if all { u64::from(group) } else { 0 });
        }
        _ => {
            let result = Lanes(group).map(|lane| w.value[lane] as u32).reduce(|a, b| match op {
                10 => a.wrapping_add(b),
                11 => (a as i32).min(b as i32) as u32,
                12 => (a as i32).max(b as i32) as u32,
                13 => a.min(b),
                14 => a.max(b),
                15 => a & b,
                16 => a | b,
                _ => a ^ b,
            });
            everyone(w, u64::from(result.unwrap_or(0)));
        }
    }
}

/// `__activemask`: lanes that reach the same call before the warp runs dry are the active ones.
pub(super) unsafe extern "C" fn activemask(line: c_int, file: *const c_char) -> u64 {
    let s = sched();
    // SAFETY: as in `warp`.
    unsafe {
        (*s).leave_plain_loop();
        (*s).fibers = true;
        let current = (*s).current;
        let index = current >> 5;
        let t = (*s).thread(current);
        t.state = State::AtActiveMask;
        t.line = line;
        t.file = file;
        (*s).warp(index).at_activemask |= 1 << (current & 31);
        if (*s).warp(index).ready == 0 {
            converge_activemask(&mut *s, index);
        }
        suspend_idle(s)
    }
}

/// The parked lanes of a warp that share a call site become one converged group.
pub(super) fn converge_activemask(s: &mut Sched, index: u32) {
    let parked = s.warp(index).at_activemask;
    let first = index * 32 + parked.trailing_zeros();
    let (line, file) = (s.thread(first).line, s.thread(first).file);
    let group = Lanes(parked)
        .filter(|lane| {
            let t = s.thread(index * 32 + *lane as u32);
            t.line == line && t.file == file
        })
        .fold(0u32, |group, lane| group | 1 << lane);
    for lane in Lanes(group) {
        s.warp(index).value[lane] = u64::from(group);
    }
    s.warp(index).at_activemask &= !group;
    s.set_ready(index, group);
}
