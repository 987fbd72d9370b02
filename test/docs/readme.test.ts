import { execFile } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { promisify } from 'node:util'
import t from 'tap'
import { startService } from '../harness/sidecar.ts'

const execute = promisify(execFile)
const README = readFileSync(new URL('../../README.md', import.meta.url), 'utf8')

/** The shell blocks that talk to a running service, in the order of the page. */
const blocks = [...README.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map(([, block]) => block).filter((block) => !/^npm /m.test(block))

t.test('the shell blocks of the README run as they are pasted, one after the other', async (t) => {
  const dir = t.testdir({ home: {}, work: {} })
  const service = await startService(t, { home: `${dir}/home`, cwd: `${dir}/work` })
  // The page's folder has no blank, wherever the project lies.
  const scratch = mkdtempSync('/tmp/local-agent-readme-')
  t.teardown(() => rmSync(scratch, { recursive: true, force: true }))
  const script = blocks.join('').replaceAll('http://127.0.0.1:3001', service.url).replaceAll('/tmp/', `${scratch}/`)

  const { stdout } = await execute('bash', ['-c', script], { timeout: 50_000, env: { PATH: process.env.PATH } })

  t.equal(readFileSync(`${scratch}/demo/notes.txt`, 'utf8'), 'hello')
  const steps = [
    '"type":"tool-approval-request"',
    '"finishReason":"tool-calls"',
    '"finishReason":"stop"',
    '\nhello',
    '"type":"data-task"',
    '"runNumber":1',
    '"approved":true',
    '"approved":true',
    '"comment":"Be brief."',
    '"status":"completed"',
    '"status":"paused"',
    '"status":"scheduled"'
  ]
  let at = 0
  for (const step of steps) {
    const found = stdout.indexOf(step, at)
    t.not(found, -1, `then ${step}`)
    at = Math.max(found + 1, at)
  }
  t.match(stdout, /event: task:complete/, 'the events were watched')
  t.same(await (await fetch(`${service.url}/tasks`)).json(), { tasks: [] })
  t.notOk(existsSync(`${dir}/home/config.json`), 'nothing needed to be configured')
})
