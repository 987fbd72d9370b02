/** Pixels of the screen, from its top left corner (points where a screen has several pixels a point). */
export interface Size {
  width: number
  height: number
}
export interface Region extends Size {
  x: number
  y: number
}

/** Which part of the screen a picture shows, and how large the picture is: what leads from its pixels to the screen's. */
export interface View extends Region {
  imageWidth: number
  imageHeight: number
}

/** A place on the screen or, with the view of a picture, in that picture. */
export interface Place {
  x: number
  y: number
  view?: View
}

export type Button = 'left' | 'right' | 'middle'
export type Direction = 'up' | 'down' | 'left' | 'right'

/** A picture of the screen as a PNG in base64, no larger than models look at. */
export interface Picture {
  screen: Size
  view: View
  png: string
}

/** What the desktop child can do, by kind: plain data in, plain data out. */
export interface Acts {
  /** How large the screen is; fails where there is none. */
  look: { input: Record<string, never>, output: { screen: Size } }
  capture: { input: { region?: Region, scale?: number }, output: Picture }
  click: { input: Place & { button?: Button, double?: boolean }, output: { x: number, y: number, screen: Size } }
  type: { input: { text?: string, keys?: string }, output: { typed: number } }
  scroll: { input: { direction: Direction, amount?: number } & Partial<Place>, output: { screen: Size } }
}

export type Act = keyof Acts

/** What goes to the child, a line each: something to do, or the end of what it is at. */
export type Order = { act: Act, input: unknown } | { stop: true }
export type Answer = { output: unknown } | { error: string }
