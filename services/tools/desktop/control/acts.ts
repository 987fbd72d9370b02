import type * as Robot from 'robotjs'
import type { Clock } from '../../../lib/clock.ts'
import type { Act, Acts, Direction, Size, Place, Region } from './desktop-rpc.ts'
import { readKeys, readText } from './key-names.ts'
import { shownSize, toPng } from './picture.ts'

/** The type of the robotjs module, with a function that its published types lack. */
export type RobotJs = Omit<typeof Robot, 'default'> & { setXDisplayName?(name: string): void }

interface Parts {
  robot: RobotJs
  platform: NodeJS.Platform
  environment: NodeJS.ProcessEnv
  clock: Clock
}

/**
 * The pause between two typed characters, in milliseconds. Programs lose characters that come faster, and typing can be aborted in the
 * pause.
 */
const PACE_MS = 2
const DEFAULT_NOTCHES = 3
/** The amount that robotjs takes for one notch of the mouse wheel; 1 on other systems. On macOS it is in pixels. */
const NOTCH: Partial<Record<NodeJS.Platform, number>> = { win32: 120, darwin: 40 }
/** The sign of each scroll direction: in robotjs, up and left are positive. */
const WHEEL: Record<Direction, [x: number, y: number]> = { up: [0, 1], down: [0, -1], left: [1, 0], right: [-1, 0] }

/** Creates the functions for all desktop actions. They run in a child process, because robotjs exits its process if there is no display. */
export function createDesktopActions (
  { robot, platform, environment, clock }: Parts
): { [A in Act]: (input: Acts[A]['input'], signal: AbortSignal) => Promise<Acts[A]['output']> } {
  const isX11 = platform === 'linux'
  // No delay between key down and key up: a process that is killed between the two would leave the key pressed.
  if (isX11) robot.setKeyboardDelay(0)

  /** Returns the present size of the screen. Throws an Error if there is no screen. */
  function screen (): Size {
    // Robotjs tries ":0" first, whatever DISPLAY says. Setting the name also reconnects, which updates the screen size and the keyboard
    // layout.
    if (isX11) robot.setXDisplayName?.(environment.DISPLAY ?? '')
    const size = robot.getScreenSize()
    if (size.width > 0 && size.height > 0) return { width: size.width, height: size.height }
    throw new Error(isX11 ? `The X display ${JSON.stringify(environment.DISPLAY ?? '')} cannot be opened.` : 'There is no screen.')
  }

  function assertMayControl () {
    if (platform !== 'darwin' || robot.getAccessibilityPermission() !== false) return
    throw new Error(
      'macOS does not let this program use mouse and keyboard. The user must allow the app that starts the service: System Settings → ' +
      'Privacy & Security → Accessibility; then start it anew.'
    )
  }

  function assertMayCapture () {
    if (platform !== 'darwin' || robot.getScreenCapturePermission() !== false) return
    throw new Error(
      'macOS does not let this program see the screen. The user must allow the app that starts the service: System Settings → Privacy & ' +
      'Security → Screen & System Audio Recording; then start it anew.'
    )
  }

  /** X11 reports errors asynchronously. Any query makes it report them now, and robotjs then exits the process. */
  const flushErrors = () => {
    robot.getMousePos()
  }

  return {
    async look () {
      return { screen: screen() }
    },

    async capture ({ region, scale }) {
      assertMayCapture()
      const whole = screen()
      const part = region ?? { x: 0, y: 0, ...whole }
      assertOnScreen(part, whole)
      const raw = robot.screen.capture(part.x, part.y, part.width, part.height)
      const shown = shownSize(raw, scale)
      const png = Buffer.from(toPng(raw, shown)).toString('base64')
      return { screen: whole, view: { ...part, imageWidth: shown.width, imageHeight: shown.height }, png }
    },

    async click ({ button = 'left', double = false, ...place }) {
      assertMayControl()
      const whole = screen()
      const { x, y } = toScreenPixel(place, whole)
      robot.moveMouse(x, y)
      robot.mouseClick(button, double)
      flushErrors()
      return { x, y, screen: whole }
    },

    async type ({ text, keys }, signal) {
      assertMayControl()
      screen()
      const characters = readText(text ?? '', platform)
      const combination = keys === undefined ? undefined : readKeys(keys)
      let typed = 0
      for (const character of characters) {
        await clock.sleep(PACE_MS)
        if (signal.aborted) throw new Error(`Typing was stopped after ${typed} characters.`)
        if (!isX11 && (character === '\n' || character === '\t')) robot.keyTap(character === '\n' ? 'enter' : 'tab')
        else robot.unicodeTap(character.codePointAt(0)!)
        flushErrors()
        typed++
      }
      if (combination) robot.keyTap(combination.key, combination.modifiers)
      flushErrors()
      return { typed }
    },

    async scroll ({ direction, amount = DEFAULT_NOTCHES, x, y, view }) {
      assertMayControl()
      const whole = screen()
      if ((x ?? y) !== undefined) {
        if (x === undefined || y === undefined) throw new Error('Give x and y, or neither: a place has both.')
        const place = toScreenPixel({ x, y, view }, whole)
        robot.moveMouse(place.x, place.y)
      }
      const [across, along] = WHEEL[direction].map((sign) => sign * amount * (NOTCH[platform] ?? 1))
      robot.scrollMouse(across, along)
      flushErrors()
      return { screen: whole }
    }
  }
}

const formatSize = ({ width, height }: Size) => `${width} × ${height}`

/**
 * Converts the position that a model gave to a pixel of the screen. Throws an Error, with the valid size, if the place is outside the
 * screen or the screenshot.
 */
function toScreenPixel ({ x, y, view }: Place, screen: Size): { x: number, y: number } {
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
  // Uses the centre of the image's pixel.
  return { x: view.x + Math.floor((x + 0.5) * view.width / imageWidth), y: view.y + Math.floor((y + 0.5) * view.height / imageHeight) }
}

/** Throws an Error unless the region lies on the screen. */
function assertOnScreen ({ x, y, width, height }: Region, screen: Size): void {
  if (x + width <= screen.width && y + height <= screen.height) return
  const size = formatSize({ width, height })
  throw new Error(`The region of ${size} pixels at (${x}, ${y}) is not on the screen, which is ${formatSize(screen)} pixels.`)
}
