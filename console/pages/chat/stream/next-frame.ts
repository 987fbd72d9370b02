/** How long a hidden page, which draws no frames, waits instead, in milliseconds. */
const HIDDEN_MS = 100

/** Resolves when the next frame is drawn. */
export function nextFrame (): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(done, HIDDEN_MS)
    const frame = requestAnimationFrame(done)
    function done () {
      clearTimeout(timer)
      cancelAnimationFrame(frame)
      resolve()
    }
  })
}
