import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createHash } from 'node:crypto'
import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { BUBBLEWRAP } from '../harness/boxes.ts'
import { attemptHonest, HONEST, MORE } from '../services/sandbox/everyday.ts'
import { setStage } from '../services/sandbox/stage.ts'
import { build } from '../services/tools/helper.ts'

const skip = process.platform === 'linux' ? false : 'bubblewrap is for Linux'

t.test('forty commands of everyday work do in a box what they do outside', { skip, timeout: 600_000 }, async (t) => {
  const stage = await setStage()
  t.teardown(stage.close)
  t.equal(HONEST.length + MORE.length, 40)
  await attemptHonest(t, stage, [...HONEST, ...MORE])
  t.same(stage.traces('').filter((trace) => !trace.startsWith('there are hooks')), [])
})

/** A registry with one package, at a host of its own. */
async function startRegistry (t: Test): Promise<number> {
  const manifest = { name: 'six', version: '1.0.0', bin: { six: 'six.js' } }
  const files = { 'package.json': JSON.stringify(manifest), 'six.js': '#!/usr/bin/env node\nconsole.log(6)\n' }
  const folder = t.testdir({ package: files })
  execFileSync('tar', ['czf', 'six.tgz', 'package'], { cwd: folder })
  const tarball = readFileSync(join(folder, 'six.tgz'))
  const server = createServer(({ url, headers }, response) => {
    if (url === '/six.tgz') return response.end(tarball)
    const dist = { tarball: `http://${headers.host}/six.tgz`, integrity: `sha512-${createHash('sha512').update(tarball).digest('base64')}` }
    const about = { name: 'six', 'dist-tags': { latest: '1.0.0' }, versions: { '1.0.0': { ...manifest, dist } } }
    return url === '/six'
      ? response.setHeader('content-type', 'application/json').end(JSON.stringify(about))
      : response.writeHead(404).end('{}')
  }).listen(0, '127.0.0.1')
  t.teardown(() => server.close())
  await once(server, 'listening')
  return (server.address() as AddressInfo).port
}

t.test('packages are installed from the one host that a call names', { skip, timeout: 120_000 }, async (t) => {
  const port = await startRegistry(t)
  const workspace = join(t.testdirName, 'work')
  mkdirSync(workspace)
  writeFileSync(join(workspace, 'package.json'), '{"name":"p","version":"1.0.0"}')
  const { output } = build({ workspace, boxes: BUBBLEWRAP, lookUp: async () => [{ address: '127.0.0.1', family: 4 }] })
  const install = `npm install --no-audit --no-fund --registry http://registry.example:${port} six && npx --no-install six`
  const network = [`registry.example:${port}`]
  t.match(await output('runCommand', { command: install, network, timeoutMs: 60_000 }), { exitCode: 0, stdout: /^6$/m })
  t.match(await output('runCommand', { command: 'npx --no-install six && npm ls six' }), { exitCode: 0, stdout: /^6$[\s\S]*six@1\.0\.0/m })
})
