import { chmodSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Test } from 'tap'
import type { Plan } from '../fakes/gateway.ts'
import { BUBBLEWRAP } from '../harness/boxes.ts'
import { stateOf } from '../harness/folders.ts'
import { withGateway } from '../harness/with-gateway.ts'

/**
 * A chat refactors a repository of so many files on a copy, unasked: it renames a name in all of them with a command, deletes, moves, links
 * and changes permissions; its user changes a file meanwhile, applies by file, then the rest, and takes all of it back.
 */
export async function refactor (t: Test, files: number) {
  const call = (toolName: string, input: object): Plan => ({ toolCalls: [{ toolName, input }] })
  const plans: Plan[] = [
    call('runCommand', {
      command: 'find src -name "*.ts" -exec sed -i s/Cart/Basket/g {} +; rm -r src/0; mv src/1 src/one; ln -s one src/uno; chmod 755 run.sh'
    }),
    call('editFile', { path: 'README.md', edits: [{ oldText: 'Cart', newText: 'Basket' }] }),
    call('writeFile', { path: 'docs/basket.md', content: '# Basket' })
  ]
  const { app } = await withGateway(t, () => plans.shift() ?? { text: 'done' }, { config: { analysis: false }, boxes: BUBBLEWRAP })
  t.teardown(() => rmSync(`${app.home}-copies`, { recursive: true, force: true }))
  const at = (path: string) => `${app.cwd}/${path}`
  const post = async (url: string, payload: object = {}) => (await app.inject({ method: 'POST', url, payload })).json()
  let bytes = 0
  const lay = (path: string, text: string) => {
    mkdirSync(dirname(at(path)), { recursive: true })
    writeFileSync(at(path), text)
    bytes += text.length
  }
  for (let n = 0; n < files; n++) lay(`src/${n % 40}/${n}.ts`, `export class Cart${n} {}\n`.repeat(40))
  lay('README.md', 'The Cart')
  lay('run.sh', 'echo run')
  chmodSync(at('run.sh'), 0o644)
  symlinkSync('README.md', at('readme'))
  const before = stateOf(app.cwd)

  const begun = performance.now()
  const run = await post('/run/sync', { id: 'chat', message: { role: 'user', content: 'go' }, options: { workspace: 'copy' } })
  const ranMs = performance.now() - begun
  t.match(run, { text: 'done', pendingApprovals: [] })
  t.same(stateOf(app.cwd), before, 'the folder is as it was')
  const apply = (body: object = {}) => post(`/runs/${run.runId}/apply`, body)

  writeFileSync(at('src/2/2.ts'), 'mine')
  const dry = await apply({ dryRun: true })
  t.same(dry.skipped, [{ path: at('src/2/2.ts'), reason: 'changed_since' }])
  const named = dry.applied.filter((path: string) => path !== at('src/5/5.ts'))
  t.same(new Set((await apply({ paths: named, dryRun: true })).applied), new Set(named), 'all but one')
  const some = await apply({ paths: ['README.md', 'src/3'] })
  t.equal(readFileSync(at('README.md'), 'utf8'), 'The Basket')
  t.equal(some.applied.length, 1 + readdirSync(at('src/3')).length)
  t.match(readFileSync(at('src/4/4.ts'), 'utf8'), /Cart/, 'and nothing else')
  const since = performance.now()
  const rest = await apply()
  const appliedMs = performance.now() - since
  t.same(rest.skipped, [{ path: at('src/2/2.ts'), reason: 'changed_since' }])
  t.equal(readFileSync(at('src/2/2.ts'), 'utf8'), 'mine')
  t.same(readdirSync(at('src')).filter((name) => !/^\d+$/.test(name)).sort(), ['one', 'uno'])
  t.notOk(readdirSync(at('src')).includes('0'))
  t.equal(statSync(at('run.sh')).mode & 0o777, 0o755)
  t.equal((await post(`/runs/${run.runId}/apply`)).applied.length, 0)

  for (const { applyId } of [rest, some]) t.same((await post(`/runs/${applyId}/undo`)).skipped, [])
  t.same(stateOf(app.cwd), { ...before, 'src/2/2.ts': stateOf(app.cwd)['src/2/2.ts'] }, 'all of it is taken back')
  return { files, bytes, ranMs, appliedMs, paths: rest.applied.length }
}
