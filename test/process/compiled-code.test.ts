import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import t from 'tap'
import { startService } from '../harness/sidecar.ts'

const OF_OTHERS = 'service-0000000000000000.cjs.code'

t.test('the compiled code of the service is kept for its owner, replaced by that of another build, and not used when it is ' +
  'damaged', async (t) => {
  const dir = t.testdir({ home: {}, work: {} })
  const places = { home: `${dir}/home`, cwd: `${dir}/work` }
  const codeIn = (folder: string) => readdirSync(folder).filter((name) => name.endsWith('.code'))

  const first = await startService(t, places)
  const cache = join(places.home, 'cache')
  const folder = join(cache, readdirSync(cache)[0])
  writeFileSync(join(folder, OF_OTHERS), 'code')
  while (existsSync(join(folder, OF_OTHERS))) await wait(50)
  const [name] = codeIn(folder)
  const file = join(folder, name)
  t.equal(statSync(file).mode & 0o777, 0o600)
  await first.stop()

  const whole = readFileSync(file)
  const bad = Buffer.from(whole)
  bad.fill(0x5a, whole.length >> 1, (whole.length >> 1) + 4_096)
  for (const content of [bad, whole.subarray(0, 1_000), Buffer.alloc(0), Buffer.alloc(whole.length)]) {
    writeFileSync(file, content)
    const { url, stop } = await startService(t, places)
    t.equal((await fetch(`${url}/health`)).status, 200)
    t.match(await stop(), { code: 0 })
  }
})
