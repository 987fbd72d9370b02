import type { Place, Region, Size } from './desktop-rpc.ts'

const text = ({ width, height }: Size) => `${width} × ${height}`

/** The pixel of the screen that a place means. Throws when there is none, saying how large the screen is. */
export function onScreen ({ x, y, view }: Place, screen: Size): { x: number, y: number } {
  if (view === undefined) {
    if (x >= screen.width || y >= screen.height) throw new Error(`(${x}, ${y}) is outside the screen, which is ${text(screen)} pixels.`)
    return { x, y }
  }
  const { imageWidth, imageHeight } = view
  if (x >= imageWidth || y >= imageHeight) {
    throw new Error(`(${x}, ${y}) is outside the screenshot, which is ${text({ width: imageWidth, height: imageHeight })} pixels.`)
  }
  within(view, screen)
  // The middle of the picture's pixel.
  return { x: view.x + Math.floor((x + 0.5) * view.width / imageWidth), y: view.y + Math.floor((y + 0.5) * view.height / imageHeight) }
}

/** Throws unless the region lies on the screen. */
export function within ({ x, y, width, height }: Region, screen: Size): void {
  if (x + width <= screen.width && y + height <= screen.height) return
  throw new Error(`The region of ${text({ width, height })} pixels at (${x}, ${y}) is not on the screen, which is ${text(screen)} pixels.`)
}
