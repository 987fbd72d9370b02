import { decode } from 'fast-png'
import t, { type Test } from 'tap'
import { answer, asked, of, say } from '../harness/agent.ts'
import { noDisplay, openWindow, startDisplay } from '../harness/display.ts'
import { alive, allGone } from '../services/process/alive.ts'
import { textOf } from '../harness/sse.ts'
import { withGateway } from '../harness/with-gateway.ts'

const SCREEN = { width: 1600, height: 1200 }
const PAGE = `<body style="margin:0;background:#336699">
  <textarea
    id="a"
    style="position:absolute;left:100px;top:100px;width:400px;height:200px;border:0;padding:0;outline:0;background:#ffcc00"
  ></textarea>
  <script>
    const a = document.getElementById('a')
    window.seen = []
    for (const type of ['click', 'dblclick', 'contextmenu', 'wheel']) {
      addEventListener(type, (event) => {
        event.preventDefault()
        seen.push([type, event.clientX, event.clientY, ...type === 'wheel' ? [event.deltaX, event.deltaY] : []])
      }, { passive: false })
    }
    addEventListener('keydown', ({ key, ctrlKey }) => { if (ctrlKey) seen.push(['ctrl', key]) })
  </script>`

const until = async (holds: () => boolean | Promise<boolean>) => {
  while (!await holds()) await new Promise((resolve) => setTimeout(resolve, 10))
}

/** The colour of a pixel of a picture in a tool's output. */
function colour ({ content: [{ data }] }: any, x: number, y: number): string {
  const { width, data: pixels } = decode(Buffer.from(data, 'base64'))
  return `#${Buffer.from(pixels.subarray((y * width + x) * 3, (y * width + x) * 3 + 3)).toString('hex')}`
}

/** The service on this display, with a model that makes these calls, one a step, when it is told to go. */
async function setUp (t: Test, display: string | undefined, settings: Parameters<typeof withGateway>[2] & { sees?: () => object } = {}) {
  if (display === undefined) delete process.env.DISPLAY
  else process.env.DISPLAY = display
  let plan: Array<[toolName: string, input: object]> = []
  const { app, gateway } = await withGateway(t, (request) => {
    if (!request.streaming) return settings.sees?.()
    return plan.length > 0 ? { toolCalls: plan.splice(0, 1).map(([toolName, input]) => ({ toolName, input })) } : { text: 'and on' }
  }, { ...settings, config: { permissions: { click: 'allow', type: 'allow' }, ...settings.config } })
  return {
    app,
    gateway,
    async go (...calls: typeof plan) {
      plan = calls
      const { events } = await say(app, 'go')
      t.equal(textOf(events), 'and on', 'the run goes on')
      return {
        outputs: of(events, 'tool-output-available').map(({ output }) => output),
        errors: events.filter(({ errorText }) => errorText !== undefined).map(({ errorText }) => errorText)
      }
    }
  }
}

t.test('the screen is seen, and a real window gets what was approved', { skip: noDisplay }, async (t) => {
  const { name } = await startDisplay(t, SCREEN)
  const { page, at } = await openWindow(t, name, PAGE)
  const seen = () => page.evaluate(() => (globalThis as any).seen.splice(0))
  const value = () => page.evaluate(() => (globalThis as any).a.value)
  const place = at(150, 150)

  await t.test('click and type ask first; the answers carry them out, and a screenshot shows what came of it', async (t) => {
    const { app } = await setUp(t, name, { config: { permissions: {}, model: 'offline/assistant' } })
    const first = await say(
      app,
      `take a screenshot, then click at ${place.x}, ${place.y}, then type 'Hello, World! {~}|^', then press ctrl+a`
    )
    const [picture] = of(first.events, 'tool-output-available').map(({ output }) => output)
    t.match(picture, {
      width: 1238,
      height: 929,
      screen: SCREEN,
      view: { x: 0, y: 0, ...SCREEN, imageWidth: 1238, imageHeight: 929 },
      note: /No vision model is configured.* models\.vision/
    })
    const pixel = (x: number, y: number): [number, number] => [Math.floor(at(x, y).x * 1238 / 1600), Math.floor(at(x, y).y * 929 / 1200)]
    t.equal(colour(picture, ...pixel(300, 200)), '#ffcc00')
    t.equal(colour(picture, ...pixel(600, 200)), '#336699')
    t.match(of(first.events, 'tool-approval-request'), [{ toolName: 'click', input: place }])
    t.same(await seen(), [], 'nothing has happened yet')

    const second = await answer(app, { [asked(first.events)[0]]: true })
    t.match(of(second.events, 'tool-output-available'), [{ output: { ...place, screen: SCREEN } }])
    t.match(of(second.events, 'tool-approval-request'), [{ toolName: 'type', input: { text: 'Hello, World! {~}|^' } }])
    const third = await answer(app, { [asked(second.events)[0]]: true })
    t.match(of(third.events, 'tool-output-available'), [{ output: { typed: 19 } }])
    await until(async () => (await value()).length === 19)
    t.equal(await value(), 'Hello, World! {~}|^')
    t.same(await seen(), [['click', 150, 150]])
    const last = await answer(app, { [asked(third.events)[0]]: false })
    const typed = 'Typed “Hello, World! {~}|^”.\n\nYou did not approve that I press ctrl+a'
    t.match(textOf(last.events), /I took a screenshot of 1238 × 929 pixels\.\n\nNo vision model[^]*Clicked at 150, \d+\.\n\nTyped/)
    t.match(textOf(last.events), typed)
    t.same(await seen(), [])
  })

  await t.test('places in a scaled or partial picture lead to what it shows there', async (t) => {
    const { go } = await setUp(t, name)
    const whole = (await go(['screenshot', { describe: false, scale: 0.5 }])).outputs[0]
    t.match(whole, { width: 800, height: 600, hint: /pass this view/, description: undefined, note: undefined })
    const part = (await go(['screenshot', { describe: false, region: { ...at(400, 200), width: 300, height: 200 } }])).outputs[0]
    t.match(part, { width: 300, height: 200, view: { ...at(400, 200), width: 300, height: 200, imageWidth: 300, imageHeight: 200 } })
    t.equal(colour(part, 99, 99), '#ffcc00', 'the last pixel of the yellow field')
    t.equal(colour(part, 100, 99), '#336699')
    t.equal(colour(part, 99, 100), '#336699')
    const half = { x: at(150, 150).x / 2, y: Math.floor(at(150, 150).y / 2) }
    const refused = await go(['screenshot', { describe: false }], ['click', place], ['scroll', { direction: 'down', ...place }])
    t.match(refused.errors, [
      /shows 1600 × 1200 pixels of the screen in 1238 × 929 pixels.* For pixels of that picture call again with view \{"x":0/,
      /for pixels of the screen with view .*"imageWidth":1600/
    ])
    t.same(await seen(), [], 'a click that might be meant otherwise is not guessed')
    const { outputs } = await go(['click', { ...half, view: whole.view }], ['click', { x: 250, y: 50, view: part.view, double: true }], [
      'click',
      { ...at(700, 300), button: 'right' }
    ])
    t.match(outputs[0].screen, SCREEN)
    t.match(outputs[1], at(650, 250))
    await until(async () => (await page.evaluate(() => (globalThis as any).seen.length)) >= 5)
    const clicks = await seen()
    t.ok(Math.abs(clicks[0][1] - 150) <= 2 && Math.abs(clicks[0][2] - 150) <= 2, `${clicks[0]}`)
    t.same(clicks.slice(1), [['click', 650, 250], ['click', 650, 250], ['dblclick', 650, 250], ['contextmenu', 700, 300]])
  })

  await t.test('scrolling and combinations of keys arrive', async (t) => {
    const { go } = await setUp(t, name)
    const wheel: number[][] = []
    const turned = async () => {
      for (const [type, ...where] of await seen()) if (type === 'wheel') wheel.push(where)
      return wheel.reduce(([x, y], [, , deltaX, deltaY]) => [x + Math.sign(deltaX), y + deltaY], [0, 0])
    }
    await go(['scroll', { direction: 'down', amount: 2, ...at(700, 500) }])
    await until(async () => (await turned())[1] >= 240)
    await go(['scroll', { direction: 'up', amount: 2 }], ['scroll', { direction: 'left', amount: 1 }])
    await until(async () => (await turned())[1] === 0 && (await turned())[0] < 0)
    t.same([...new Set(wheel.map(([x, y]) => `${x}, ${y}`))], ['700, 500'])
    await go(['click', place], ['type', { text: 'one\ntwo', keys: 'ctrl+a' }], ['type', { keys: 'delete' }], ['type', {
      text: 'three',
      keys: 'shift+home'
    }], ['type', { text: 'x' }])
    await until(async () => (await value()) === 'x')
    t.match((await seen()).filter(([type]: [string]) => type === 'ctrl').at(-1), ['ctrl', 'a'])
  })

  await t.test('what is not on the screen, or cannot be typed, is refused with the reason', async (t) => {
    const { app, go } = await setUp(t, name)
    const view = { x: 0, y: 0, ...SCREEN, imageWidth: 800, imageHeight: 600 }
    const refused: Array<[tool: string, input: object, why: RegExp]> = [
      ['click', { x: 1600, y: 5 }, /^\(1600, 5\) is outside the screen, which is 1600 × 1200 pixels\.$/],
      ['click', { x: 800, y: 5, view }, /\(800, 5\) is outside the screenshot, which is 800 × 600/],
      [
        'click',
        { x: 5, y: 5, view: { ...view, width: 1700 } },
        /region of 1700 × 1200 pixels at \(0, 0\) is not on the screen, which is 1600 × 1200/
      ],
      ['scroll', { direction: 'up', x: 5, y: 5000 }, /\(5, 5000\) is outside the screen/],
      [
        'screenshot',
        { region: { x: 1500, y: 0, width: 101, height: 10 } },
        /region of 101 × 10 pixels at \(1500, 0\) is not on the screen/
      ],
      ['click', { x: -1, y: 5 }, /x must be >= 0/],
      ['click', { x: 1 }, /lacks the property "y"/],
      ['type', {}, /fewer than 1/],
      ['scroll', { direction: 'up', x: 1 }, /Give x and y, or neither/],
      ['type', { text: 'grün 😀' }, /Nothing was typed, for "ü" "😀" cannot be: on this desktop only ASCII can/],
      ['type', { text: 'a\u0007' }, /"\\u0007" cannot be/],
      ['type', { text: 'abc', keys: 'hyper+x' }, /"hyper" is no modifier/],
      ['type', { keys: 'ctrl+!' }, /"!" is no key/],
      ['type', { keys: 'constructor' }, /"constructor" is no key/]
    ]
    for (const half of [refused.slice(0, 7), refused.slice(7)]) {
      const { errors } = await go(...half.map(([tool, input]): [string, object] => [tool, input]))
      t.match(errors, half.map(([, , why]) => why))
    }
    t.notOk((await seen()).some(([type]: [string]) => type === 'click'))
    t.ok(app.desktop.pid, 'and its process lives on')
  })

  await t.test('the model of role vision says what is there; the model that acts sees the picture', async (t) => {
    let sees: object = { text: 'A blue page.' }
    const { gateway, go } = await setUp(t, name, { config: { models: { vision: 'test/eyes' } }, sees: () => sees })
    t.match((await go(['screenshot', { question: 'What colour is the page?' }])).outputs, [{
      description: 'A blue page.',
      note: undefined
    }])
    const asked = gateway.requests.find(({ streaming }) => !streaming)!
    t.equal(asked.modelId, 'test/eyes')
    t.match(asked.body.prompt[1].content, [{ type: 'text', text: 'What colour is the page?' }, { type: 'file', mediaType: 'image/png' }])
    const [text, file] = gateway.requests.at(-1)!.body.prompt.at(-1).content[0].output.value
    t.match(text.text, /A blue page/)
    t.match(file, { type: 'file', mediaType: 'image/png', data: { data: /^iVBOR/ } })
    sees = { error: { status: 400, type: 'invalid_request_error', message: 'no pictures, please' } }
    t.match((await go(['screenshot', {}])).outputs, [{
      description: undefined,
      note: /The picture was not described\. .*test\/eyes/,
      content: [{ type: 'image' }]
    }])
  })

  await t.test('a child that is killed is an error of its call, and the next one works', async (t) => {
    const { app, go } = await setUp(t, name)
    t.equal(app.desktop.pid, undefined, 'started when first needed')
    await go(['click', place])
    const before = app.desktop.pid!
    const typing = go(['type', { text: '\n'.repeat(2000) }], ['click', place])
    await until(async () => (await value()).includes('\n'))
    process.kill(before, 'SIGKILL')
    const { errors, outputs } = await typing
    t.match(errors, [/desktop was lost during the call: its process ended with SIGKILL.*is not known/])
    t.match(outputs, [place])
    const after = app.desktop.pid!
    t.not(after, before)
    await app.close()
    t.notOk(alive(before) || alive(after))
  })

  await t.test('a run that is stopped stops typing', async (t) => {
    const { app, go } = await setUp(t, name)
    await seen()
    await go(['click', place])
    // Keys of the test before may still be on their way to the page; its events arrive in order, so a click comes after them.
    await until(async () => (await seen()).some(([type]: [string]) => type === 'click'))
    await page.evaluate(() => {
      ;(globalThis as any).a.value = ''
    })
    const leaving = new AbortController()
    const typing = app.tools.execute({
      name: 'type',
      input: { text: '\n'.repeat(2000) },
      runId: 'r',
      attempt: app.fence.enter('r'),
      callId: 'c',
      cwd: '/',
      signal: leaving.signal
    })
    await until(async () => (await value()).includes('\n'))
    leaving.abort(new Error('enough'))
    await t.rejects(typing, { message: 'enough' })
    await go(['type', { text: 'end' }])
    await until(async () => (await value()).includes('end'))
    t.match(await value(), /^\n{1,1999}end$/)
  })
})

t.test('without a display there are no desktop tools, and all else works', async (t) => {
  const { app, gateway, go } = await setUp(t, undefined)
  t.match(await go(['click', { x: 1, y: 1 }], ['systemInfo', {}]), {
    errors: [/click cannot be used here\. There is no display: DISPLAY is not set/],
    outputs: [{ desktop: 'There is no display: DISPLAY is not set.' }]
  })
  t.same(
    gateway.requests[0].body.tools.map(({ name }: any) => name).filter((name: string) => /screenshot|click|type|scroll/.test(name)),
    []
  )
  await app.desktop.probe()
  t.equal(app.desktop.pid, undefined)
})

t.test('a display that is not there is found out', { skip: process.platform !== 'linux' }, async (t) => {
  const { app, go } = await setUp(t, ':65000')
  t.match(await go(['screenshot', {}]), { errors: ['The X display ":65000" cannot be opened.'] })
  const pid = app.desktop.pid!
  await app.desktop.probe()
  t.match(await go(['screenshot', {}], ['systemInfo', {}]), {
    errors: ['screenshot cannot be used here. The X display ":65000" cannot be opened.'],
    outputs: [{ desktop: /cannot be opened/ }]
  })
  await allGone([pid])
})

t.test('a display whose windows nobody may touch is none', { skip: process.platform !== 'linux' }, async (t) => {
  process.env.WAYLAND_DISPLAY = 'wayland-0'
  t.teardown(() => {
    delete process.env.WAYLAND_DISPLAY
  })
  const { go } = await setUp(t, ':65000')
  t.match(await go(['systemInfo', {}]), { outputs: [{ desktop: /Wayland session/ }] })
})
