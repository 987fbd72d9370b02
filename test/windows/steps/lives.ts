import { match, ok, strictEqual } from 'node:assert/strict'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { ALLOWED, ask, boot, call, configure, HOME, home, isHealthy, node, read, server, tell, up, url, WORK, type Step } from '../app.ts'

const KILLS = 10

export const lives: Step[] = [
  ['everything is erased, and the service goes on', async () => {
    await ask('/data', { confirm: 'erase everything' }, 'DELETE')
    while (!await isHealthy()) await wait(50)
    strictEqual((await ask('/threads')).threads.length, 0)
    await call('writeFile', { path: 'after.txt', content: 'after' })
    strictEqual(read('after.txt'), 'after')
    await configure(ALLOWED)
  }],

  ['a backup is made and put back, and the key is changed', async () => {
    const headers = { 'x-export-passphrase': 'a long passphrase', 'content-type': 'application/octet-stream' }
    const body = await (await fetch(`${url}/export`, { headers })).arrayBuffer()
    const imported = await fetch(`${url}/import`, { method: 'POST', headers, body })
    strictEqual(imported.status, 200, await imported.text())
    while (!await isHealthy()) await wait(50)
    await tell('stop')
    const line = `set LOCAL_AGENT_HOME=${HOME}&& ${node} ${server} rotate-key`
    match((await tell('run', { command: 'C:\\windows\\system32\\cmd.exe', args: ['/d', '/c', line] })).stderr, /encrypted with the new key/)
    await up()
    ok((await ask('/threads')).threads.length > 0)
  }],

  ['a second service is refused as long as the first one runs', async () => {
    const { code, log } = await boot()
    strictEqual(code, 73, log)
    match(log, /in use by process/)
  }],

  [`${KILLS} kills lose no message`, async () => {
    for (let n = 0; n < KILLS; n++) {
      const { threadId } = await ask('/run/sync', { messages: [{ role: 'user', content: `message ${n}` }], context: { cwd: WORK } })
      await tell('kill')
      await up()
      match(JSON.stringify(await ask(`/threads/${threadId}`)), new RegExp(`message ${n}`))
    }
  }],

  ['a lock whose process id another program has is taken over, and the end of an app ends the service in order', async () => {
    await tell('kill')
    const { pid } = await tell('pid')
    writeFileSync(join(home, 'service.lock'), JSON.stringify({ pid, started: 1 }))
    await up()
    const { code, log } = await tell('stop')
    strictEqual(code, 0, log)
    ok(!existsSync(join(home, 'service.lock')))
    await up()
  }]
]
