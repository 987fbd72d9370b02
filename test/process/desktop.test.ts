import { readdirSync, readFileSync } from 'node:fs'
import t from 'tap'
import { noDisplay, startDisplay } from '../harness/display.ts'
import { alive, allGone } from '../services/process/alive.ts'
import { startService } from '../harness/sidecar.ts'

const say = async (url: string, content: string): Promise<any> =>
  (await fetch(`${url}/run/sync`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ messages: [{ role: 'user', content }] })
  })).json()

/** Process ids of the service's desktop children at work: the one that looked at the start may just be at its end. */
const children = (service: number): number[] =>
  readdirSync('/proc').map(Number).filter((pid) => {
    try {
      const [, , parent] = /^\d+ \(.*\) (\S) (\d+)/s.exec(readFileSync(`/proc/${pid}/stat`, 'latin1')) ?? []
      return Number(parent) === service && readFileSync(`/proc/${pid}/cmdline`, 'latin1').includes('workers/desktop') && alive(pid)
    } catch {
      return false
    }
  })

t.test('the built service uses the desktop in a child that ends with it, however it ends', {
  skip: process.platform !== 'linux' ? 'needs /proc' : noDisplay
}, async (t) => {
  // Another display is there before: robotjs would take the first one.
  await startDisplay(t, { width: 640, height: 480 })
  const display = await startDisplay(t)
  const dir = t.testdir({
    home: { 'config.json': JSON.stringify({ analysis: false, permissions: { click: 'allow', type: 'allow' } }) },
    work: {}
  })
  const options = { home: `${dir}/home`, cwd: `${dir}/work`, env: { DISPLAY: display.name } }
  const used = async (url: string) => {
    const { toolCalls, text } = await say(
      url,
      "take a screenshot then click at 10, 20 then type 'x' then click at 900, 20 then scroll down"
    )
    t.match(toolCalls, [
      { output: { width: 800, height: 600, content: [{ type: 'image', mimeType: 'image/png' }] } },
      { output: { x: 10, y: 20 } },
      { output: { typed: 1 } },
      {},
      { output: { direction: 'down' } }
    ])
    t.match(text, /Clicked at 10, 20[^]*Typed “x”[^]*I could not click at 900, 20: [^]*Scrolled down/)
    t.match(text, 'I could not click at 900, 20: (900, 20) is outside the screen, which is 800 × 600 pixels')
  }

  const first = await startService(t, options)
  await used(first.url)
  const working = children(first.pid)
  t.ok(working.length > 0)
  await first.stop('SIGKILL')
  await allGone(working)

  const second = await startService(t, options)
  await used(second.url)
  const others = children(second.pid)
  // With its display gone it may end, too; nothing else does.
  await display.stop()
  t.match(
    (await say(second.url, 'take a screenshot then system info')).text,
    /I (could not take a screenshot: |cannot take a screenshot)[^]*This system:/
  )
  t.match(await second.stop(), { code: 0 })
  t.notOk(others.some(alive))
})
