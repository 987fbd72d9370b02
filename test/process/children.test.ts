import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { setTimeout as wait } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { withArgument } from '../services/process/alive.ts'
import { startService, type Sidecar } from '../harness/sidecar.ts'
import { postEvents, type Sent } from '../harness/sse.ts'

const linux = process.platform === 'linux' ? false : 'escapes are found through /proc'
const ALLOW = { permissions: { runCommand: 'allow' } }

/** Everything a command can do to live on. $1 marks its processes, $2 is a FIFO that hears when all of them are there. */
const CLINGING = `
stubborn="trap '' TERM HUP INT QUIT; while :; do sleep $1; done"
sleep $1 &
nohup sleep $1 >/dev/null 2>&1 &
bash -c "sleep $1 & disown"
bash -mc "sleep $1 &"
( sh -c "$stubborn" & )
setsid sleep $1 &
setsid -f sh -c "$stubborn" </dev/null >/dev/null 2>&1
( ( cd /; exec env -i setsid sh -c "$stubborn" <&- >&- 2>&- ) & )
sleep $1 & kill -STOP $!
setsid -f sh -c "kill -STOP \\$\\$; sleep $1"
sh -c "cat; cat /dev/tty; sleep $1" &
sh -c "yes >/dev/null; : $1" &
(sleep 1000; sleep $1) &
$3
echo > "$2"
`
const STAY = 'trap "" TERM; sleep 1000; sleep 1000'
const KINDS = 12

const home = (config: object) => ({ 'config.json': JSON.stringify({ ...ALLOW, ...config }) })
const work = { 'cling.sh': `${CLINGING}eval "$4"\n` }

let runs = 0
/** Lets the agent run all of it; resolves once it is there. */
async function cling ({ url }: Sidecar, cwd: string, andThen = STAY, where = '') {
  const marker = `86400.${process.pid}${String(++runs).padStart(3, '0')}`
  const fifo = `${cwd}/fifo-${runs}`
  execFileSync('mkfifo', [fifo])
  writeFileSync(`${cwd}/run-${runs}.sh`, `exec sh cling.sh ${marker} '${fifo}' : '${andThen}'\n`)
  const leaving = new AbortController()
  const response = await fetch(`${url}/run`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ messages: [{ role: 'user', content: `run \`sh run-${runs}.sh\`${where}` }] }),
    signal: leaving.signal
  })
  const text = response.text()
  text.catch(() => {})
  await readFile(fifo)
  return { marker, text, leave: () => leaving.abort(), threadId: response.headers.get('x-thread-id') }
}

async function gone (t: Test, marker: string, what: string) {
  for (const end = Date.now() + 10_000; withArgument(marker).length > 0 && Date.now() < end;) await wait(20)
  t.same(withArgument(marker).map((pid) => readFileSync(`/proc/${pid}/cmdline`, 'latin1')), [], what)
}

t.test('no process of a command is left when it ends, its client leaves, its run is stopped or over time, or the service goes', {
  skip: linux
}, async (t) => {
  const dir = t.testdir({ work, home: home({}), brief: home({ agent: { runMs: 20_000 } }) })
  const where = { home: `${dir}/home`, cwd: `${dir}/work` }
  const brief = { ...where, home: `${dir}/brief` }
  const [service, hasty] = await Promise.all([startService(t, where), startService(t, brief)])
  const late = cling(hasty, brief.cwd)

  const left = await cling(service, where.cwd)
  t.ok(withArgument(left.marker).length >= KINDS, 'they are there')
  left.leave()
  const ended = await cling(service, where.cwd, 'exit 3')
  const stopped = await cling(service, where.cwd)
  await fetch(`${service.url}/run/${stopped.threadId}/stop`, { method: 'POST' })
  t.match(await ended.text, /"exitCode":3/)
  await gone(t, ended.marker, 'the command ended')
  await gone(t, left.marker, 'the client left')
  await gone(t, stopped.marker, 'the run was stopped')
  const over = await late
  await over.text
  await gone(t, over.marker, 'the run was over time')

  const behind = await Promise.all([[service, where.cwd] as const, [hasty, brief.cwd] as const].map(([each, cwd]) =>
    cling(each, cwd, STAY, ' and keep it running')
  ))
  for (const { text, marker } of behind) {
    t.match(await text, /"running":true/)
    t.ok(withArgument(marker).length >= KINDS, 'they stay when the run has ended')
  }
  const [ending, killed] = [await cling(service, where.cwd), await cling(hasty, brief.cwd)]
  hasty.child.kill('SIGKILL')
  t.match(await service.stop('SIGTERM'), { code: 0 })
  for (const { marker } of [ending, behind[0]]) t.same(withArgument(marker), [], 'the service ended in order: nothing is left when it has')
  for (const { marker } of [killed, behind[1]]) await gone(t, marker, 'the service was killed')
})

t.test('nothing of ours can be read off the processes of the service: tokens, passphrase, keys', { skip: linux }, async (t) => {
  // eslint-disable-next-line no-template-curly-in-string
  const providers = { mine: { baseURL: 'http://127.0.0.1:9/v1', apiKey: '${MY_PROVIDER}' } }
  // In a box a command sees no processes of the service, and few variables: this one looks from outside.
  const dir = t.testdir({ work: {}, home: home({ model: 'offline/assistant', providers, commands: { sandbox: 'off' } }) })
  const where = { home: `${dir}/home`, cwd: `${dir}/work` }
  const secrets = {
    LOCAL_AGENT_TOKEN: 'a-token-hush',
    LOCAL_AGENT_PASSPHRASE: 'a-passphrase-hush',
    AI_GATEWAY_API_KEY: 'a-gateway-key-hush',
    MY_PROVIDER: 'a-provider-key-hush'
  }
  const service = await startService(t, { ...where, env: { ...secrets, OTHER: 'kept' } })
  writeFileSync(
    `${where.cwd}/look.sh`,
    'env; cat /proc/$PPID/environ /proc/$PPID/cmdline /proc/self/environ /proc/[0-9]*/environ | tr "\\0" "\\n" | grep -a "hush\\|OTHER"'
  )

  const { events } = await postEvents(`${service.url}/run`, { messages: [{ role: 'user', content: 'run `sh look.sh`' }] }, {
    authorization: `Bearer ${secrets.LOCAL_AGENT_TOKEN}`
  })
  const { output } = events.find(({ type }: Sent) => type === 'tool-output-available') as Sent

  t.match(output.stdout, /OTHER=kept/)
  t.notMatch(JSON.stringify(events), /\w-hush/)
  t.notMatch(readFileSync(`/proc/${service.pid}/environ`, 'latin1'), /\w-hush/)
  const { status } = await fetch(service.url, { headers: { authorization: `Bearer ${secrets.LOCAL_AGENT_TOKEN}` } })
  t.equal(status, 200, 'and the service still knows them')
  await service.stop()
  t.match(await (await startService(t, { ...where, env: secrets })).stop(), { code: 0 }, 'the passphrase still opens the store')
})
