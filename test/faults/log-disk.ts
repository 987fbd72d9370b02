// The built service, whose log lies on the small disk at the directory given: fills it, makes room again; prints as
// one line of JSON what the log holds then.
import { once } from 'node:events'
import { mkdtempSync, openSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { setTimeout as wait } from 'node:timers/promises'
import { startService } from '../harness/sidecar.ts'
import { flood, made } from '../process/flood.ts'

const disk = process.argv[2]
const ballast = `${disk}/ballast`
const log = `${disk}/log`
const home = mkdtempSync(`${tmpdir()}/local-agent-test-`)
writeFileSync(ballast, Buffer.alloc(3 * 1024 * 1024 + 1024 * 512))

const service = await startService({ teardown () {} }, {
  home,
  cwd: '/',
  stderr: openSync(log, 'a'),
  preload: [flood(`${home}/mark`, { lasting: false })]
})
service.child.kill('SIGWINCH')
await made(`${home}/mark`)
const health = (await fetch(`${service.url}/health`)).status
while (statSync(log).size < 500 * 1024) await wait(10)
rmSync(ballast)
while (!readFileSync(log, 'utf8').includes('"lost"')) await wait(10)
service.child.kill('SIGTERM')
const [code] = await once(service.child, 'exit')
rmSync(home, { recursive: true })
const lines = readFileSync(log, 'utf8').trim().split('\n').map((line) => JSON.parse(line))
console.log(JSON.stringify({ health, code, log: lines.map(({ n, lost }) => JSON.stringify({ n, lost })).join('\n') }))
