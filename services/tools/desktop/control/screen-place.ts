import type { Place, Region, Size } from './desktop-rpc.ts'

const formatSize = ({ width, height }: Size) => `${width} × ${height}`

/** Converts a place to a pixel of the screen. Throws an Error with the screen's size when the place is outside. */
export function toScreenPixel ({ x, y, view }: Place, screen: Size): { x: number, y: number } {
  if (view === undefined) {
    if (x >= screen.width || y >= screen.height) {
      throw new Error(`(${x}, ${y}) is outside the screen, which is ${formatSize(screen)} pixels.`)
    }
    return { x, y }
  }
  const { imageWidth, imageHeight } = view
  if (x >= imageWidth || y >= imageHeight) {
    throw new Error(`(${x}, ${y}) is outside the screenshot, which is ${formatSize({ width: imageWidth, height: imageHeight })} pixels.`)
  }
  assertOnScreen(view, screen)
  // The middle of the image's pixel.
  return { x: view.x + Math.floor((x + 0.5) * view.width / imageWidth), y: view.y + Math.floor((y + 0.5) * view.height / imageHeight) }
}

/** Throws unless the region lies on the screen. */
export function assertOnScreen ({ x, y, width, height }: Region, screen: Size): void {
  if (x + width <= screen.width && y + height <= screen.height) return
  const size = formatSize({ width, height })
  throw new Error(`The region of ${size} pixels at (${x}, ${y}) is not on the screen, which is ${formatSize(screen)} pixels.`)
}
