const { writeFileSync } = require('node:fs')
const { isMainThread } = require('node:worker_threads')
const { PerformanceObserver } = require('node:perf_hooks')

// Loaded into a measured process by NODE_OPTIONS: leaves the longest pause of its main thread for garbage, in milliseconds, in the folder
// GC_PAUSES. Pauses of the first seconds belong to the start.

const START_MS = 5_000
let longest = 0
if (isMainThread && process.env.GC_PAUSES !== undefined) {
  new PerformanceObserver((list) => {
    const pauses = list.getEntries().filter(({ startTime }) => startTime > START_MS).map(({ duration }) => duration)
    if (Math.max(0, ...pauses) <= longest) return
    longest = Math.max(...pauses)
    writeFileSync(`${process.env.GC_PAUSES}/pause-${process.pid}`, String(longest))
  }).observe({ entryTypes: ['gc'] })
}
