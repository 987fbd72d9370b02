import { execFile } from 'node:child_process'
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { promisify } from 'node:util'
import t from 'tap'
import { everything, misbehaving } from '../harness/mcp.ts'
import { alive, allGone } from '../services/process/alive.ts'
import { startService } from '../harness/sidecar.ts'
import { parseEvents, textOf } from '../harness/sse.ts'

const execute = promisify(execFile)
const CANARY = 'canary-7f3a9c51e0d2'

/** The documented calls, as a script makes them. */
async function curl (method: string, url: string, body?: object): Promise<any> {
  const data = body ? ['-H', 'content-type: application/json', '-d', JSON.stringify(body)] : []
  const { stdout } = await execute('curl', ['-sN', '--max-time', '30', '-X', method, ...data, url])
  return stdout.startsWith('data: ') ? parseEvents(stdout) : JSON.parse(stdout)
}
const run = (url: string, content: string) => curl('POST', `${url}/run`, { messages: [{ role: 'user', content }] })

/** Every file below a folder, as text. */
const contents = (folder: string): string =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => statSync(`${folder}/${name}`).isFile()).map((name) => readFileSync(`${folder}/${name}`, 'latin1')).join('\n')

t.test(
  'connect with curl, use the tool, restart, use it again, get killed, disconnect',
  { skip: process.platform !== 'linux' },
  async (t) => {
    const dir = t.testdir({ work: {} })
    const paths = { home: `${dir}/home`, cwd: `${dir}/work` }
    const answers: string[] = []
    const say = async (url: string, content: string) => {
      const events = await run(url, content)
      answers.push(JSON.stringify(events))
      return textOf(events)
    }
    /** The server's process, and one that it has started. */
    const pidsOf = async (url: string) => [...(await say(url, 'use the pid tool then use the fork tool')).matchAll(/^\d+$/gm)].map(Number)

    const first = await startService(t, paths)
    t.match(await curl('POST', `${first.url}/mcp/connect`, misbehaving('odd', [], { env: { TOKEN: CANARY }, approval: 'never' })), {
      status: 'connected',
      tools: ['echo', 'fail']
    })
    t.match(await curl('POST', `${first.url}/mcp/connect`, everything()), { status: 'connected', tools: ['echo'] })
    t.match(await curl('POST', `${first.url}/mcp/servers/everything/accept`, {}), { status: 'connected' })
    t.match(
      await say(first.url, 'use get-sum with {"a": 2, "b": 40} then use the fail tool'),
      /is 42[^]*could not use fail: it did not work/
    )
    const pids = await pidsOf(first.url)
    await say(first.url, 'use env with {"name": "TOKEN"}')
    await say(first.url, 'run `env`')
    t.match(await curl('GET', `${first.url}/mcp/servers/odd`), { status: 'connected' })
    t.same(pids.map(alive), [true, true])
    t.match(await first.stop(), { code: 0 })
    t.notOk(pids.some(alive), 'nothing is left of the servers, nor of what they started')

    const second = await startService(t, paths)
    t.match(
      await say(second.url, 'use echo with {"message": "here again"}'),
      /here again/,
      'it is connected again by the time a run needs it'
    )
    const more = await pidsOf(second.url)
    t.same(more.map(alive), [true, true])
    await second.stop('SIGKILL')
    await allGone(more)

    const third = await startService(t, paths)
    t.strictSame(await curl('DELETE', `${third.url}/mcp/odd`), { status: 'disconnected', name: 'odd' })
    t.match(await curl('DELETE', `${third.url}/mcp/everything`), { status: 'disconnected' })
    t.strictSame(await curl('GET', `${third.url}/mcp/servers`), { servers: [] })
    t.match(await third.stop(), { code: 0 })

    for (
      const [what, text] of Object.entries({
        files: contents(dir),
        answers: answers.join('\n'),
        logs: [first, second, third].map(({ log, out }) => log() + out()).join('\n')
      })
    ) {
      t.notMatch(text, new RegExp(CANARY), `the secret is not in the ${what}`)
    }
  }
)

t.test('a server that takes long, or does not work at all, keeps nobody from starting', async (t) => {
  const dir = t.testdir({ home: {}, work: {} })
  writeFileSync(
    `${dir}/home/config.json`,
    JSON.stringify({ mcp: [misbehaving('slow', ['--delay=60000']), { name: 'none', command: '/no/such/program' }] })
  )
  const service = await startService(t, { home: `${dir}/home`, cwd: `${dir}/work` })
  t.match(await curl('GET', `${service.url}/ready`), { ready: true })
  t.match(await curl('GET', `${service.url}/mcp/servers`), {
    servers: [{ name: 'slow', status: 'connecting', tools: [] }, { name: 'none' }]
  })
  t.match(await service.stop(), { code: 0 })
})
