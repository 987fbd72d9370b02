/**
 * A size in pixels of the screen (in points, on screens with several pixels per point). Positions are measured from the top left corner.
 */
export interface Size {
  width: number
  height: number
}
export interface Region extends Size {
  x: number
  y: number
}

/** The part of the screen that an image shows, and the size of the image. Both convert a pixel of the image to a pixel of the screen. */
export interface View extends Region {
  imageWidth: number
  imageHeight: number
}

/** A point: with `view`, in pixels of the image that has this view; otherwise in pixels of the screen. */
export interface Place {
  x: number
  y: number
  view?: View
}

export type Button = 'left' | 'right' | 'middle'
export type Direction = 'up' | 'down' | 'left' | 'right'

/** An image of the screen as a PNG in base64. It is never larger than the size that models process without scaling it down. */
interface Picture {
  screen: Size
  view: View
  png: string
}

/** The inputs and outputs of the desktop child's actions, by the name of the action. All are plain data. */
export interface Acts {
  /** Returns the size of the screen. Fails if there is none. */
  look: { input: Record<string, never>, output: { screen: Size } }
  capture: { input: { region?: Region, scale?: number }, output: Picture }
  click: { input: Place & { button?: Button, double?: boolean }, output: { x: number, y: number, screen: Size } }
  type: { input: { text?: string, keys?: string }, output: { typed: number } }
  scroll: { input: { direction: Direction, amount?: number } & Partial<Place>, output: { screen: Size } }
}

export type Act = keyof Acts

/** A message to the child, one per line: performs an action, or stops the running one. */
export type Order = { act: Act, input: unknown } | { stop: true }
/** The child's answer to an action. */
export type Answer = { output: unknown } | { error: string }
