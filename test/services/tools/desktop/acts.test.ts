import t from 'tap'
import { systemClock } from '../../../../services/lib/clock.ts'
import { createDesktopActions, type RobotJs } from '../../../../services/tools/desktop/control/acts.ts'
import { readKeys } from '../../../../services/tools/desktop/control/key-names.ts'
import { shownSize } from '../../../../services/tools/desktop/control/picture.ts'

const signal = new AbortController().signal

/** Another system's robotjs: what it would do is written down. */
function on (platform: NodeJS.Platform, answers: Record<string, unknown> = {}) {
  const done: unknown[][] = []
  const known: Record<string, unknown> = { getScreenSize: { width: 100, height: 50 }, getMousePos: { x: 0, y: 0 }, ...answers }
  const robot = new Proxy({}, {
    get: (_target, name: string) => (...args: unknown[]) => Object.hasOwn(known, name) ? known[name] : done.push([name, ...args])
  }) as RobotJs
  return { acts: createDesktopActions({ robot, platform, environment: {}, clock: { ...systemClock, sleep: async () => {} } }), done }
}

t.test('what macOS does not allow is told with what to do about it', async (t) => {
  const { acts, done } = on('darwin', { getAccessibilityPermission: false, getScreenCapturePermission: false })
  await t.rejects(acts.capture({}, signal), {
    message: /not let this program see the screen.*Privacy & Security → Screen & System Audio Recording; then start it anew/
  })
  const refused: Array<() => Promise<unknown>> = [
    () => acts.click({ x: 1, y: 1 }, signal),
    () => acts.type({ text: 'a' }, signal),
    () => acts.scroll({ direction: 'up' }, signal)
  ]
  for (const act of refused) {
    await t.rejects(act, { message: /not let this program use mouse and keyboard.*Privacy & Security → Accessibility/ })
  }
  t.same(done, [])
  const allowed = on('darwin', { getAccessibilityPermission: true })
  await allowed.acts.scroll({ direction: 'down', amount: 2 }, signal)
  await allowed.acts.type({ text: 'grün' }, signal)
  t.same(allowed.done, [['scrollMouse', 0, -80], ...[...'grün'].map((character) => ['unicodeTap', character.codePointAt(0)])])
  await t.rejects(allowed.acts.type({ text: 'a😀' }, signal), { message: /"😀" cannot be: emoji and control characters cannot/ })
})

t.test('Windows counts the wheel in its own unit', async (t) => {
  const { acts, done } = on('win32')
  await acts.scroll({ direction: 'left', x: 5, y: 6 }, signal)
  t.same(done, [['moveMouse', 5, 6], ['scrollMouse', 360, -0]])
})

t.test('keys by the names that people use', async (t) => {
  const read = (keys: string) => {
    const { key, modifiers } = readKeys(keys)
    return [...modifiers, key].join(' ')
  }
  t.same(['Enter', 'ctrl+S', 'Cmd + Shift + 4', 'ctrl++', '+', 'ctrl+plus', 'alt+F4', 'super', 'ctrl+-'].map(read), [
    'enter',
    'control s',
    'command shift 4',
    'control +',
    '+',
    'control +',
    'alt f4',
    'command',
    'control -'
  ])
  for (const keys of ['', '+ +', 'ctrl+', '++a', 'ctrl+ab', 'F13', '!']) t.throws(() => readKeys(keys), keys)
})

t.test('no picture is larger than models look at', async (t) => {
  t.same([
    shownSize({ width: 1024, height: 768 }),
    shownSize({ width: 1920, height: 1080 }),
    shownSize({ width: 5120, height: 100 }),
    shownSize({ width: 200, height: 100 }, 0.5),
    shownSize({ width: 1, height: 9000 })
  ], [{ width: 1024, height: 768 }, { width: 1430, height: 804 }, { width: 1568, height: 31 }, { width: 100, height: 50 }, {
    width: 1,
    height: 1568
  }])
})
