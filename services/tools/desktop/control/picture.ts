import { encode } from 'fast-png'
import type { Size } from './desktop-rpc.ts'

/** The pixels of a screen capture: rows of BGR or BGRA, each `byteWidth` bytes long. */
interface ScreenCapture extends Size {
  image: Uint8Array
  byteWidth: number
  bytesPerPixel: number
}

/** Limits of an image. Model providers scale larger images down, and coordinates in them would no longer match. */
const LONGEST_SIDE = 1_568
const MAX_PIXELS = 1_150_000

/** Returns the size of an image after scaling by `scale`, or by a smaller factor if the limits above require it. */
export function shownSize ({ width, height }: Size, scale = 1): Size {
  const factor = Math.min(scale, LONGEST_SIDE / Math.max(width, height), Math.sqrt(MAX_PIXELS / (width * height)))
  const side = (length: number) => Math.max(1, Math.min(length, Math.round(length * factor)))
  return { width: side(width), height: side(height) }
}

/**
 * Encodes a capture as a PNG of the given size, which must not be larger than the capture. Each pixel is the mean of the pixels that it
 * covers.
 */
export function toPng (raw: ScreenCapture, size: Size): Uint8Array {
  if (raw.bytesPerPixel !== 3 && raw.bytesPerPixel !== 4) {
    throw new Error(`The screen has ${raw.bytesPerPixel * 8} bits a pixel; only 24 and 32 can be read.`)
  }
  return encode({ ...size, data: shrink(raw, size), channels: 3, depth: 8 })
}

function shrink ({ image, byteWidth, bytesPerPixel, ...from }: ScreenCapture, to: Size): Uint8Array {
  const data = new Uint8Array(to.width * to.height * 3)
  const columns = partEdges(from.width, to.width)
  const rows = partEdges(from.height, to.height)
  for (let row = 0, at = 0; row < to.height; row++) {
    for (let column = 0; column < to.width; column++, at += 3) {
      let red = 0
      let green = 0
      let blue = 0
      for (let y = rows[row]; y < rows[row + 1]; y++) {
        for (let x = columns[column], pixel = y * byteWidth + x * bytesPerPixel; x < columns[column + 1]; x++, pixel += bytesPerPixel) {
          blue += image[pixel]
          green += image[pixel + 1]
          red += image[pixel + 2]
        }
      }
      const count = (rows[row + 1] - rows[row]) * (columns[column + 1] - columns[column])
      data[at] = red / count
      data[at + 1] = green / count
      data[at + 2] = blue / count
    }
  }
  return data
}

/** Divides `from` pixels into `to` nearly equal parts. Returns the position at which each part begins, and the end of the last part. */
const partEdges = (from: number, to: number) => Array.from({ length: to + 1 }, (_, index) => Math.floor(index * from / to))
