//! A visit as one CUDA graph: no host code between its steps, hence none in a timed window.

use std::time::{Duration, Instant};

use cudarc::driver::result::{self, DriverError};
use cudarc::driver::sys::{self, CUevent, CUevent_flags, CUgraph, CUgraphExec, CUstreamCaptureMode};

use super::device::{CudaDevice, broken};
use super::error::device_error;
use crate::device::arguments::{Buffers, launch_error};
use crate::device::{Access, DeviceError, GraphId, Step};

/// `CU_EVENT_RECORD_EXTERNAL`: an event in a captured graph keeps its time for the host.
const EXTERNAL: u32 = 1;
/// What the sum of all windows may exceed the host's clock by: one tick of rounding per window is far less.
const TIMER_SLACK: Duration = Duration::from_millis(1);

/// Captures the steps, launches the graph once and reads its windows.
pub(super) fn perform(device: &mut CudaDevice, steps: &[Step]) -> Result<Vec<Duration>, DeviceError> {
    let windows = steps.iter().filter(|step| matches!(step, Step::Timed(_))).count();
    let own = |what: &'static str| move |error: DriverError| device_error(what, error);
    while device.events.len() < 2 * windows {
        let event = result::event::create(CUevent_flags::CU_EVENT_DEFAULT).map_err(own("no event"))?;
        device.events.push(event);
    }
    // SAFETY: no requirements. A candidate may have asked for lines that persist; a GPU without them refuses.
    let _ = unsafe { sys::cuCtxResetPersistingL2Cache() };
    let graph = capture(device, steps)?;
    // SAFETY: graph and stream are live; the executable graph is destroyed after the stream is empty.
    unsafe {
        let flags = sys::CUgraphInstantiate_flags(0);
        let ready = Executable(result::graph::instantiate(graph.0, flags).map_err(own("a CUDA graph"))?);
        result::graph::upload(ready.0, device.stream).map_err(own("a CUDA graph"))?;
        device.wait("a CUDA graph")?;
        let start = Instant::now();
        result::graph::launch(ready.0, device.stream).map_err(own("a CUDA graph"))?;
        device.wait("the timed launches")?;
        let spent = start.elapsed();
        let times = read(&device.events[..2 * windows]).map_err(own("reading an event"))?;
        let sum: Duration = times.iter().sum();
        if sum > spent + TIMER_SLACK {
            return Err(broken(&format!("timer-mismatch: events say {sum:?}, the host's clock {spent:?}")));
        }
        device.sm_mhz = device.probes.sm_mhz();
        Ok(times)
    }
}

struct Captured(CUgraph);

impl Drop for Captured {
    fn drop(&mut self) {
        // SAFETY: ours, and no executable graph depends on it.
        let _ = unsafe { result::graph::destroy(self.0) };
    }
}

struct Executable(CUgraphExec);

impl Drop for Executable {
    fn drop(&mut self) {
        // SAFETY: ours; every use waited for the stream.
        let _ = unsafe { result::graph::exec_destroy(self.0) };
    }
}

fn capture(device: &CudaDevice, steps: &[Step]) -> Result<Captured, DeviceError> {
    let stream = device.stream;
    let mode = CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL;
    // SAFETY: the stream is live and captures nothing yet; capture ends below whatever happens.
    unsafe { result::stream::begin_capture(stream, mode) }.map_err(|error| device_error("a capture", error))?;
    let enqueued = enqueue(device, steps);
    // SAFETY: as above.
    let captured = unsafe { result::stream::end_capture(stream) };
    let captured = captured.map(Captured).map_err(|error| device_error("a capture", error));
    enqueued.and(captured)
}

fn enqueue(device: &CudaDevice, steps: &[Step]) -> Result<(), DeviceError> {
    let stream = device.stream;
    let own = |error: DriverError| device_error("popcorn's own step of a visit", error);
    let record = |event: CUevent| {
        // SAFETY: event and stream are live.
        unsafe { sys::cuEventRecordWithFlags(event, stream, EXTERNAL).result() }.map_err(own)
    };
    let run = |graphs: &[GraphId]| -> Result<(), DeviceError> {
        for graph in graphs {
            for command in device.graph(*graph)? {
                command.enqueue(stream, device.cublas.as_ref())?;
            }
        }
        Ok(())
    };
    let mut events = device.events.chunks_exact(2);
    device.probes.stamp(0, stream).map_err(own)?;
    for step in steps {
        match step {
            Step::Poison(buffer) => {
                let place = device.place(*buffer)?;
                if place.access == Access::Read {
                    return Err(launch_error(format!("buffer '{}' is read-only and cannot be poisoned", place.name)));
                }
                if place.bytes > 0 {
                    // SAFETY: the buffer has this size.
                    unsafe { result::memset_d8_async(place.start, 0xFF, place.bytes as usize, stream) }.map_err(own)?;
                }
            }
            Step::Flush => device.probes.flush(stream).map_err(own)?,
            Step::Run(graphs) => run(graphs)?,
            Step::Timed(graphs) => {
                let [start, end] = events.next().unwrap_or_default() else {
                    return Err(broken("a window without events"));
                };
                record(*start)?;
                run(graphs)?;
                record(*end)?;
            }
        }
    }
    device.probes.stamp(1, stream).map_err(own)
}

/// One duration per pair of events.
fn read(events: &[CUevent]) -> Result<Vec<Duration>, DriverError> {
    let pair = |pair: &[CUevent]| -> Result<Duration, DriverError> {
        // SAFETY: both events were recorded by the graph that has ended.
        let milliseconds = unsafe { result::event::elapsed(pair[0], pair[1]) }?;
        Ok(Duration::from_nanos((f64::from(milliseconds) * 1e6).round().max(0.0) as u64))
    };
    events.chunks_exact(2).map(pair).collect()
}
