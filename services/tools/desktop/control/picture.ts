import { encode } from 'fast-png'
import type { Size } from './desktop-rpc.ts'

/** What the screen gives: rows of BGR or BGRA, each `byteWidth` long. */
export interface Raw extends Size {
  image: Uint8Array
  byteWidth: number
  bytesPerPixel: number
}

/** Larger pictures are made smaller by the models' providers, and places in them are then no longer where they were. */
const LONGEST_SIDE = 1_568
const MOST_PIXELS = 1_150_000

/** The size at which a picture is shown: `scale` of it, or less where that would be larger than models look at. */
export function shownSize ({ width, height }: Size, scale = 1): Size {
  const factor = Math.min(scale, LONGEST_SIDE / Math.max(width, height), Math.sqrt(MOST_PIXELS / (width * height)))
  const side = (length: number) => Math.max(1, Math.min(length, Math.round(length * factor)))
  return { width: side(width), height: side(height) }
}

/** The picture as a PNG of that size, which is no larger than the picture; every pixel is the mean of those it stands for. */
export function toPng (raw: Raw, size: Size): Uint8Array {
  if (raw.bytesPerPixel !== 3 && raw.bytesPerPixel !== 4) {
    throw new Error(`The screen has ${raw.bytesPerPixel * 8} bits a pixel; only 24 and 32 can be read.`)
  }
  return encode({ ...size, data: shrink(raw, size), channels: 3, depth: 8 })
}

function shrink ({ image, byteWidth, bytesPerPixel, ...from }: Raw, to: Size): Uint8Array {
  const data = new Uint8Array(to.width * to.height * 3)
  const columns = edges(from.width, to.width)
  const rows = edges(from.height, to.height)
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

/** Where each of `to` equal parts of `from` pixels begins, and where the last one ends. */
const edges = (from: number, to: number) => Array.from({ length: to + 1 }, (_, index) => Math.floor(index * from / to))
