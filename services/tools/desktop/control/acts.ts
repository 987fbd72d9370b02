import type * as Robot from 'robotjs'
import type { Clock } from '../../../lib/clock.ts'
import type { Act, Acts, Direction, Size } from './desktop-rpc.ts'
import { readKeys, readText } from './key-names.ts'
import { shownSize, toPng } from './picture.ts'
import { onScreen, within } from './screen-place.ts'

/** Robotjs, with what its types leave out. */
export type RobotJs = Omit<typeof Robot, 'default'> & { setXDisplayName?(name: string): void }

interface Parts {
  robot: RobotJs
  platform: NodeJS.Platform
  environment: NodeJS.ProcessEnv
  clock: Clock
}

/** Between two characters: programs lose what comes faster than anybody types, and to stop is heard then. */
const PACE_MS = 2
const DEFAULT_NOTCHES = 3
/** What robotjs takes for a notch of the wheel; on macOS it counts pixels. */
const NOTCH: Partial<Record<NodeJS.Platform, number>> = { win32: 120, darwin: 40 }
/** Robotjs counts up and left as more. */
const WHEEL: Record<Direction, [x: number, y: number]> = { up: [0, 1], down: [0, -1], left: [1, 0], right: [-1, 0] }

/** How each act is done. This runs in a child: without a display robotjs ends its process. */
export function createDesktopActions (
  { robot, platform, environment, clock }: Parts
): { [A in Act]: (input: Acts[A]['input'], signal: AbortSignal) => Promise<Acts[A]['output']> } {
  const isX11 = platform === 'linux'
  // A process that is killed between a key's going down and up leaves it down: no time between the two.
  if (isX11) robot.setKeyboardDelay(0)

  /** The screen as it is now. */
  function screen (): Size {
    // Robotjs looks for ":0" first, whatever DISPLAY says. Naming it connects anew, which notices another size or layout of keys.
    if (isX11) robot.setXDisplayName?.(environment.DISPLAY ?? '')
    const size = robot.getScreenSize()
    if (size.width > 0 && size.height > 0) return { width: size.width, height: size.height }
    throw new Error(isX11 ? `The X display ${JSON.stringify(environment.DISPLAY ?? '')} cannot be opened.` : 'There is no screen.')
  }

  function mayControl () {
    if (platform !== 'darwin' || robot.getAccessibilityPermission() !== false) return
    throw new Error(
      'macOS does not let this program use mouse and keyboard. The user must allow the app that starts the service: System Settings → Privacy & Security → Accessibility; then start it anew.'
    )
  }

  function maySee () {
    if (platform !== 'darwin' || robot.getScreenCapturePermission() !== false) return
    throw new Error(
      'macOS does not let this program see the screen. The user must allow the app that starts the service: System Settings → Privacy & Security → Screen & System Audio Recording; then start it anew.'
    )
  }

  /** X11 tells what went wrong later: asking for anything has it told by now, and robotjs ends the process then. */
  const settle = () => {
    robot.getMousePos()
  }

  return {
    async look () {
      return { screen: screen() }
    },

    async capture ({ region, scale }) {
      maySee()
      const whole = screen()
      const part = region ?? { x: 0, y: 0, ...whole }
      within(part, whole)
      const raw = robot.screen.capture(part.x, part.y, part.width, part.height)
      const shown = shownSize(raw, scale)
      const png = Buffer.from(toPng(raw, shown)).toString('base64')
      return { screen: whole, view: { ...part, imageWidth: shown.width, imageHeight: shown.height }, png }
    },

    async click ({ button = 'left', double = false, ...place }) {
      mayControl()
      const whole = screen()
      const { x, y } = onScreen(place, whole)
      robot.moveMouse(x, y)
      robot.mouseClick(button, double)
      settle()
      return { x, y, screen: whole }
    },

    async type ({ text, keys }, signal) {
      mayControl()
      screen()
      const characters = readText(text ?? '', platform)
      const combination = keys === undefined ? undefined : readKeys(keys)
      let typed = 0
      for (const character of characters) {
        await clock.sleep(PACE_MS)
        if (signal.aborted) throw new Error(`Typing was stopped after ${typed} characters.`)
        if (!isX11 && (character === '\n' || character === '\t')) robot.keyTap(character === '\n' ? 'enter' : 'tab')
        else robot.unicodeTap(character.codePointAt(0)!)
        settle()
        typed++
      }
      if (combination) robot.keyTap(combination.key, combination.modifiers)
      settle()
      return { typed }
    },

    async scroll ({ direction, amount = DEFAULT_NOTCHES, x, y, view }) {
      mayControl()
      const whole = screen()
      if ((x ?? y) !== undefined) {
        if (x === undefined || y === undefined) throw new Error('Give x and y, or neither: a place has both.')
        const place = onScreen({ x, y, view }, whole)
        robot.moveMouse(place.x, place.y)
      }
      const [across, along] = WHEEL[direction].map((sign) => sign * amount * (NOTCH[platform] ?? 1))
      robot.scrollMouse(across, along)
      settle()
      return { screen: whole }
    }
  }
}
