import { createHash } from 'node:crypto'
import { lstatSync, mkdirSync, readdirSync, readFileSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { of, say } from '../harness/agent.ts'
import { changesOf, UNASKED, undo } from '../harness/undo.ts'
import { textOf } from '../harness/sse.ts'
import { withGateway } from '../harness/with-gateway.ts'

/** A digest of all names, kinds, modes and contents below a folder. */
function digestOf (folder: string): string {
  const hash = createHash('sha256')
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort()) {
    const stat = lstatSync(join(folder, name))
    hash.update(`${name}\0${stat.mode}\0`)
    if (stat.isFile()) hash.update(readFileSync(join(folder, name)))
  }
  return hash.digest('hex')
}

t.test('a model searches a tree of 20,000 files, edits and moves what it found, and an undo leaves the tree as it was', async (t) => {
  const steps: Array<Array<{ toolName: string, input: object }>> = [
    [
      { toolName: 'searchFiles', input: { pattern: 'oldName\\(', glob: '*.ts' } },
      { toolName: 'findFiles', input: { pattern: 'needle.*' } }
    ],
    [
      { toolName: 'editFile', input: { path: 'p77/needle.ts', edits: [{ oldText: 'oldName', newText: 'newName', all: true }] } },
      { toolName: 'editFile', input: { path: 'p3/use.ts', edits: [{ oldText: 'oldName()\n', newText: 'newName()\nmore()\n' }] } },
      { toolName: 'moveFile', input: { from: 'p77/needle.ts', to: 'lib/new/name.ts' } },
      { toolName: 'moveFile', input: { from: 'p5', to: 'moved/p5' } }
    ]
  ]
  const { app, gateway } = await withGateway(t, ({ streaming }) => {
    if (!streaming) return undefined
    const toolCalls = steps.shift()
    return toolCalls === undefined ? { text: 'Renamed.' } : { toolCalls }
  }, { config: UNASKED })
  const cwd = realpathSync(app.cwd)
  for (let folder = 0; folder < 200; folder++) {
    mkdirSync(join(cwd, `p${folder}`))
    for (let file = 0; file < 100; file++) writeFileSync(join(cwd, `p${folder}/f${file}.ts`), `export const value = ${file}\n`)
  }
  writeFileSync(join(cwd, 'p77/needle.ts'), 'export function oldName() {}\noldName()\n')
  writeFileSync(join(cwd, 'p3/use.ts'), 'before\r\noldName()\r\n')
  symlinkSync('f1.ts', join(cwd, 'p5/link'))
  const before = digestOf(cwd)

  const { events } = await say(app, 'go')
  t.equal(textOf(events), 'Renamed.')
  t.same(of(events, 'tool-output-error'), [])
  // Calls that only read run at the same time; either may be the first to end.
  const [searched, found] = ['searchFiles', 'findFiles'].map((name) =>
    of(events, 'tool-output-available').find(({ toolName }) => toolName === name)!.output)
  t.same(searched.matches.map(({ path, line }: any) => [path, line]), [['p3/use.ts', 2], ['p77/needle.ts', 1], ['p77/needle.ts', 2]])
  t.same(found.files, ['p77/needle.ts'])
  t.equal(readFileSync(join(cwd, 'lib/new/name.ts'), 'utf8'), 'export function newName() {}\nnewName()\n')
  t.equal(readFileSync(join(cwd, 'p3/use.ts'), 'utf8'), 'before\r\nnewName()\r\nmore()\r\n')
  t.equal(readdirSync(join(cwd, 'moved/p5')).length, 101)
  const heard = JSON.stringify(gateway.requests.at(-1)!.body.prompt)
  t.match(heard, /p77\/needle\.ts\\+n1: export function oldName/, 'the model gets the matches as text')
  t.notMatch(heard, /@@ -1/, 'and no diff of what it wrote')

  const [{ messageMetadata: { runId } }] = of(events, 'start')
  const { changes } = await changesOf(app, runId)
  t.match(changes.slice(0, 2).map(({ path, kind, toolName }) => [path, kind, toolName]), [
    [join(cwd, 'p77/needle.ts'), 'changed', 'editFile'],
    [join(cwd, 'p3/use.ts'), 'changed', 'editFile']
  ])
  t.same((await undo(app, runId)).skipped, [])
  t.equal(digestOf(cwd), before, 'every file, link and mode is as it was')
})
