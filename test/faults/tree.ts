import { createHash } from 'node:crypto'
import {
  chmodSync,
  cpSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  symlinkSync,
  writeFileSync
} from 'node:fs'
import { join } from 'node:path'
import type { Test } from 'tap'
import { asked, of } from '../harness/agent.ts'
import { undo } from '../harness/undo.ts'
import { ROOT } from '../harness/source-tree.ts'
import { parseEvents } from '../harness/sse.ts'
import { withGateway } from '../harness/with-gateway.ts'

type Call = [toolName: string, input: object]

/** What is in a folder: the kind and mode of each entry, the content of each file and the target of each link. */
function pictureOf (folder: string): Map<string, string> {
  const picture = new Map<string, string>()
  for (const name of ['.', ...readdirSync(folder, { recursive: true, encoding: 'utf8' })]) {
    const path = join(folder, name)
    const stat = lstatSync(path)
    const content = stat.isSymbolicLink()
      ? readlinkSync(path)
      : stat.isFile() ? createHash('sha256').update(readFileSync(path)).digest('hex') : 'folder'
    picture.set(name, `${stat.isSymbolicLink() ? 'link' : (stat.mode & 0o7777).toString(8)} ${content}`)
  }
  return picture
}

const differences = (a: Map<string, string>, b: Map<string, string>) =>
  [...new Set([...a.keys(), ...b.keys()])].filter((name) => a.get(name) !== b.get(name)).map((name) => [name, a.get(name), b.get(name)])

/** Copies installed packages until there are so many files and folders, and adds texts in other encodings, links and modes. */
function lay (tree: string, files: number): void {
  const packages = join(ROOT, 'node_modules')
  let count = 0
  for (const name of readdirSync(packages).filter((name) => !name.startsWith('.')).sort()) {
    const size = readdirSync(join(packages, name), { recursive: true }).length
    if (count >= files || size > files / 3) continue
    count += size
    cpSync(join(packages, name), join(tree, name), { recursive: true, verbatimSymlinks: true })
  }
  const odd = join(tree, 'odd')
  mkdirSync(join(odd, 'inner/deep'), { recursive: true })
  writeFileSync(join(odd, 'utf16.txt'), Buffer.from('\ufeffone\r\nneedle é\r\n', 'utf16le'))
  writeFileSync(join(odd, 'latin1.txt'), Buffer.from('na\u00efve\nneedle caf\u00e9\n', 'latin1'))
  writeFileSync(join(odd, 'crlf.txt'), 'one\r\nneedle\r\nthree')
  writeFileSync(join(odd, 'run.sh'), '#!/bin/sh\n# needle\n', { mode: 0o755 })
  writeFileSync(join(odd, 'inner/deep/bytes.bin'), Buffer.from([0, 255, 254, 0, 1]))
  for (const name of ['a', 'b', 'c', 'd']) writeFileSync(join(odd, `inner/${name}.log`), name)
  symlinkSync('inner/deep', join(odd, 'to-folder'))
  symlinkSync('nowhere', join(odd, 'to-nothing'))
  for (const [path, mode] of [['odd/latin1.txt', 0o640], ['odd/inner/deep', 0o711], ['odd/inner/deep/bytes.bin', 0o600]] as const) {
    chmodSync(join(tree, path), mode)
  }
}

/** The calls of each step of the model: it looks, edits, moves, deletes and writes over what it moved. */
function work (tree: string): Call[][] {
  const folders = readdirSync(tree).filter((name) => name !== 'odd')
  const texts = readdirSync(tree, { recursive: true, encoding: 'utf8' }).filter((name) => /^[^.]*README\.md$/i.test(name)).slice(0, 40)
  const edit = (path: string, oldText: string, newText: string): Call => ['editFile', { path, edits: [{ oldText, newText, all: true }] }]
  const deletion = (path: string, more = {}): Call => ['deleteFile', { path, ...more }]
  return [
    [
      ['searchFiles', { pattern: 'needle', path: 'odd' }],
      ['findFiles', { pattern: '**/package.json', limit: 2_000 }],
      ['searchFiles', { pattern: 'license', glob: '**/package.json', limit: 50 }],
      ['readFile', { path: texts[0] }]
    ],
    [
      ...texts.map((path) => edit(path, readFileSync(join(tree, path), 'utf8').slice(0, 3), 'Übung ')),
      ...['utf16.txt', 'latin1.txt', 'crlf.txt', 'run.sh'].map((name) => edit(`odd/${name}`, 'needle', 'nail')),
      edit('odd/crlf.txt', 'one\r\nnail', 'two\r\nmore')
    ],
    [
      ['moveFile', { from: folders[0], to: 'moved/first' }],
      ['moveFile', { from: 'moved/first', to: 'moved/again' }],
      ['moveFile', { from: 'odd/latin1.txt', to: 'odd/crlf.txt', overwrite: true }],
      ['moveFile', { from: 'odd/to-folder', to: 'odd/inner/to-folder' }],
      ['writeFile', { path: 'odd/latin1.txt', content: 'another one' }]
    ],
    [deletion('odd/inner/a.log')],
    ['b', 'c', 'd'].map((name) => deletion(`odd/inner/${name}.log`)),
    [deletion('odd/to-nothing'), deletion('odd/inner', { recursive: true }), deletion('odd/utf16.txt')],
    [
      ['writeFile', { path: 'odd/inner', content: 'a file where a folder was' }],
      ['writeFile', { path: 'odd/utf16.txt/now/a/folder.txt', content: 'a folder where a file was' }]
    ],
    folders.slice(1, 4).map((path) => deletion(path, { recursive: true }))
  ]
}

/** A model works through a tree of so many files, with approvals of which one is for a folder; then the run is undone. */
export async function worksThroughTree (t: Test, files: number): Promise<void> {
  let steps: Call[][] = []
  const { app } = await withGateway(t, (_request, nth) => {
    const step = steps[nth]
    return step === undefined ? { text: 'All is done.' } : { toolCalls: step.map(([toolName, input]) => ({ toolName, input })) }
  }, { config: { permissions: { editFile: 'allow', moveFile: 'allow', writeFile: 'allow' } } })
  const tree = realpathSync(app.cwd)
  lay(tree, files)
  const before = pictureOf(tree)
  steps = work(tree)
  const send = async (url: string, payload: object) => parseEvents((await app.inject({ method: 'POST', url, payload })).body)

  let events = await send('/run', { messages: [{ role: 'user', content: 'go' }], id: 'a' })
  const all = [...events]
  let questions = 0
  while (asked(events).length > 0) {
    const content = of(events, 'tool-approval-request').map(({ approvalId, scopes }) => {
      const isFolder = scopes.some(({ scope, text }: Record<string, string>) => scope === 'folder' && text.includes('.log'))
      return { type: 'tool-approval-response', approvalId, approved: true, ...(isFolder && { scope: 'folder' }) }
    })
    questions += content.length
    events = await send('/run/approve', { messages: [{ role: 'tool', content }], id: 'a' })
    all.push(...events)
  }
  const calls = steps.flat()
  t.same(of(all, 'tool-output-error').map(({ errorText }) => errorText), [], 'every call did what it was to do')
  t.same(of(all, 'error'), [])
  t.equal(new Set(of(all, 'tool-output-available').map(({ toolCallId }) => toolCallId)).size, calls.length)
  t.equal(questions, calls.filter(([tool]) => tool === 'deleteFile').length - 3, 'one answer covers the other files of the folder')
  t.ok(differences(before, pictureOf(tree)).length > 50, 'much was changed')

  const { skipped, undoId } = await undo(app, of(all, 'start')[0].messageMetadata.runId)
  t.same(skipped, [])
  t.same(differences(before, pictureOf(tree)), [], 'all is as it was')
  t.same((await undo(app, undoId!)).skipped, [])
  t.ok(differences(before, pictureOf(tree)).length > 50, 'and the undo can be undone')
  t.ok(before.size > files)
}
