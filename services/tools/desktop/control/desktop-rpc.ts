/** A size in pixels of the screen (in points, for screens with several pixels a point). Positions count from the top left corner. */
export interface Size {
  width: number
  height: number
}
export interface Region extends Size {
  x: number
  y: number
}

/** The part of the screen that an image shows, and the size of the image: they map pixels of the image to pixels of the screen. */
export interface View extends Region {
  imageWidth: number
  imageHeight: number
}

/** A point on the screen or, with the view of an image, in that image. */
export interface Place {
  x: number
  y: number
  view?: View
}

export type Button = 'left' | 'right' | 'middle'
export type Direction = 'up' | 'down' | 'left' | 'right'

/** An image of the screen as a PNG in base64, no larger than the size that models process without scaling. */
interface Picture {
  screen: Size
  view: View
  png: string
}

/** The actions of the desktop child by name; inputs and outputs are plain data. */
export interface Acts {
  /** Returns the size of the screen; fails when there is none. */
  look: { input: Record<string, never>, output: { screen: Size } }
  capture: { input: { region?: Region, scale?: number }, output: Picture }
  click: { input: Place & { button?: Button, double?: boolean }, output: { x: number, y: number, screen: Size } }
  type: { input: { text?: string, keys?: string }, output: { typed: number } }
  scroll: { input: { direction: Direction, amount?: number } & Partial<Place>, output: { screen: Size } }
}

export type Act = keyof Acts

/** A message to the child, one a line: an action to perform, or the request to stop the running one. */
export type Order = { act: Act, input: unknown } | { stop: true }
/** The child's answer to an action. */
export type Answer = { output: unknown } | { error: string }
