import { deepStrictEqual, match, ok, strictEqual } from 'node:assert/strict'
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { until } from '../../harness/exercise.ts'
import { REFUSED } from '../../harness/windows-names.ts'
import { ALLOWED, ask, call, configure, model, plan, planCall, read, tell, up, url, WORK, work, type Step } from '../app.ts'

export const files: Step[] = [
  ['the service starts and is healthy, and says that it is on Windows', async () => {
    await up()
    strictEqual((await fetch(`${url}/health`)).status, 200)
    const info = JSON.parse((await call('systemInfo', {})).text)
    strictEqual(info.platform, 'win32')
    match(info.shell, /cmd\.exe/)
    match(JSON.stringify(model.calls.at(-1)!.body.messages[0]), /Windows; commands run in cmd\.exe/)
  }],

  ['a file is written once its user says so, and is taken back', async () => {
    planCall('writeFile', { path: 'sub/Letter.txt', content: 'hello' })
    const stream = await ask('/run', { messages: [{ role: 'user', content: 'write it' }], context: { cwd: WORK } })
    const approvalId = /"approvalId":"([^"]+)"/.exec(stream)?.[1]
    ok(approvalId, stream)
    ok(!existsSync(join(work, 'sub')), 'nothing is written unasked')
    match(JSON.stringify(await ask('/approvals')), /C:\\\\+test\\\\+work/)
    await ask(`/approvals/${approvalId}`, { approved: true })
    await until(() => existsSync(join(work, 'sub/Letter.txt')))
    strictEqual(read('sub/Letter.txt'), 'hello')
    const runId = /"runId":"([^"]+)"/.exec(stream)?.[1]
    while ((await ask(`/runs/${runId}`)).status !== 'completed') await wait(20)
    deepStrictEqual((await ask(`/runs/${runId}/undo`, {})).restored, ['C:\\test\\work\\sub\\Letter.txt'])
    ok(!existsSync(join(work, 'sub')))
    await configure(ALLOWED)
  }],

  ['file tools read, change, move, find and delete, with both slashes and in any case', async () => {
    await call('writeFile', { path: 'src\\deep/A.TXT', content: 'one\ntwo\n' })
    strictEqual(read('src/deep/A.TXT'), 'one\ntwo\n')
    writeFileSync(join(work, 'src/crlf.txt'), 'one\r\ntwo\r\n')
    await call('editFile', { path: 'c:/TEST/work/SRC/crlf.txt', edits: [{ oldText: 'two', newText: 'three\nfour' }] })
    strictEqual(read('src/crlf.txt'), 'one\r\nthree\r\nfour\r\n', 'lines end as they did')
    match((await call('readFile', { path: 'SRC\\Deep\\a.txt' })).text, /one/)
    match((await call('findFiles', { pattern: 'src\\**\\*.txt' })).text, /src\/deep\/A\.TXT/)
    match((await call('searchFiles', { pattern: 'three', glob: 'C:\\test\\work\\src\\*.TXT' })).text, /crlf\.txt/)
    match((await call('listDirectory', { path: '.', depth: 3 })).text, /src\/deep\/A\.TXT/)
    const { runId } = await call('moveFile', { from: 'src\\deep', to: 'moved\\deep' })
    strictEqual(read('moved/deep/A.TXT'), 'one\ntwo\n')
    await ask(`/runs/${runId}/undo`, {})
    strictEqual(read('src/deep/A.TXT'), 'one\ntwo\n')
    const gone = await call('deleteFile', { path: 'SRC', recursive: true })
    ok(!existsSync(join(work, 'src')), gone.text)
    const { skipped } = await ask(`/runs/${gone.runId}/undo`, {})
    deepStrictEqual(skipped, [])
    deepStrictEqual(readdirSync(join(work, 'src'), { recursive: true }).map(String).sort(), ['crlf.txt', 'deep', join('deep', 'A.TXT')])
  }],

  ['a move to a name that differs in case alone gives files and folders that name, and is taken back', async () => {
    const names = (folder = '.') => readdirSync(join(work, folder)).sort()
    mkdirSync(join(work, 'src/deep'), { recursive: true })
    writeFileSync(join(work, 'src/crlf.txt'), 'one\r\nthree\r\n')
    writeFileSync(join(work, 'src/deep/A.TXT'), 'one\ntwo\n')
    await configure(ALLOWED)
    const { text, runId } = await call('moveFile', { from: 'src\\crlf.txt', to: 'SRC\\CRLF.txt' })
    match(text, /C:\\\\test\\\\work\\\\src\\\\CRLF\.txt/)
    deepStrictEqual(names('src'), ['CRLF.txt', 'deep'])
    match(read('src/CRLF.txt'), /three/)
    match((await call('moveFile', { from: 'src\\CRLF.txt', to: 'src\\CRLF.txt' })).text, /where it is already/)
    const { changes } = await ask(`/runs/${runId}/changes`)
    deepStrictEqual(changes.map(({ kind, canUndo }: any) => [kind, canUndo]), [['moved', true]], JSON.stringify(changes))
    const undone = await ask(`/runs/${runId}/undo`, {})
    deepStrictEqual([undone.skipped, names('src')], [[], ['crlf.txt', 'deep']])
    match(read('src/crlf.txt'), /three/)
    await ask(`/runs/${undone.undoId}/undo`, {})
    deepStrictEqual(names('src'), ['CRLF.txt', 'deep'], 'and forth again')
    const folder = await call('moveFile', { from: 'src', to: 'Src' })
    ok(names().includes('Src') && !names().includes('src'), folder.text)
    match(read('Src/CRLF.txt'), /three/)
    deepStrictEqual((await ask(`/runs/${folder.runId}/undo`, {})).skipped, [])
    ok(names().includes('src') && !names().includes('Src'))
    deepStrictEqual([names('src'), read('src/deep/A.TXT')], [['CRLF.txt', 'deep'], 'one\ntwo\n'])
    await call('moveFile', { from: 'src/CRLF.txt', to: 'src/crlf.txt' })
    const spoilt = await call('moveFile', { from: 'src/crlf.txt', to: 'src/Crlf.txt' })
    writeFileSync(join(work, 'src/Crlf.txt'), 'one\r\nthree\r\nsomebody\r\n')
    const { restored } = await ask(`/runs/${spoilt.runId}/undo`, {})
    deepStrictEqual([restored, read('src/Crlf.txt')], [[], 'one\r\nthree\r\nsomebody\r\n'], 'what somebody wrote meanwhile stays')
    await call('moveFile', { from: 'src/Crlf.txt', to: 'src/crlf.txt' })
  }],

  ['names that Windows reads otherwise are refused by each tool, approvals show why, and nothing is made', async () => {
    mkdirSync(join(work, 'src'), { recursive: true })
    writeFileSync(join(work, 'src/crlf.txt'), 'one\r\nthree\r\nfour\r\n')
    const before = readdirSync(work, { recursive: true }).sort()
    const elsewhere = ['\\\\.\\C:\\test\\x', '\\\\127.0.0.1\\c$\\x', 'Z:\\tmp\\x'].map((path): [string, RegExp] => [path, /device|outside/])
    for (const [path, why] of [...REFUSED.filter(([path]) => !path.includes('\u0001')), ...elsewhere]) {
      const calls: Array<[string, object]> = [
        ['readFile', { path }], ['listDirectory', { path }], ['searchFiles', { pattern: 'x', path }], ['findFiles', { pattern: '*', path }],
        ['writeFile', { path, content: 'x' }], ['editFile', { path, edits: [{ oldText: 'a', newText: 'b' }] }], ['deleteFile', { path }],
        ['moveFile', { from: path, to: 'x' }], ['moveFile', { from: 'src\\crlf.txt', to: path }]
      ]
      plan({ toolCalls: calls.map(([toolName, input]) => ({ toolName, input })) })
      await ask('/run/sync', { messages: [{ role: 'user', content: 'go' }], context: { cwd: WORK } })
      const told = model.calls.at(-1)!.body.messages.filter(({ role }: { role: string }) => role === 'tool')
      strictEqual(told.length, calls.length, path)
      for (const [at, { content }] of told.entries()) {
        match(JSON.stringify(content).replaceAll('\\\\', '\\').replaceAll('\\"', '"'), why, `${calls[at][0]} ${path}`)
      }
    }
    await configure({})
    for (const path of ['NUL', 'a.txt.', 'sub:b']) {
      planCall('writeFile', { path, content: 'x' })
      const stream = await ask('/run', { messages: [{ role: 'user', content: `write ${path}` }], context: { cwd: WORK } })
      const [, approvalId] = /"approvalId":"([^"]+)"/.exec(stream)!
      const { refused } = await ask(`/approvals/${approvalId}/preview`)
      match(refused, /device|dot or blank|":"/, path)
      await ask(`/approvals/${approvalId}`, { approved: true })
      await ask(`/runs/${/"runId":"([^"]+)"/.exec(stream)![1]}?waitMs=30000`)
    }
    await configure(ALLOWED)
    match((await call('readFile', { path: '\\\\?\\C:\\test\\work\\src\\crlf.txt' })).text, /three/, 'in the long form')
    match((await call('readFile', { path: 'C:\\TEST\\HOME\\config.json' })).text, /off limits|outside/)
    deepStrictEqual(readdirSync(work, { recursive: true }).sort(), before)
  }],

  ['globs and .gitignore are read in any case, and an undo takes a path in any spelling', async () => {
    mkdirSync(join(work, 'Out/Deep'), { recursive: true })
    writeFileSync(join(work, '.gitignore'), 'OUT/deep/\n')
    writeFileSync(join(work, 'Out/Deep/Built.ts'), 'needle')
    writeFileSync(join(work, 'Out/Kept.ts'), 'needle')
    const { text } = await call('searchFiles', { pattern: 'needle', glob: 'out\\**\\*.TS' })
    match(text, /Kept\.ts/)
    ok(!text.includes('Built.ts'), text)
    for (const glob of ['C:x*', 'a.txt:*', '..\\*']) match((await call('findFiles', { pattern: glob })).text, /must be relative/, glob)
    const { runId } = await call('writeFile', { path: 'Out\\Kept.ts', content: 'changed' })
    const undo = (paths: string[]) => fetch(`${url}/runs/${runId}/undo`, {
      method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ paths })
    })
    const device = '\\\\.\\C:\\test\\work\\Out\\Kept.ts'
    for (const path of ['NUL', 'out\\kept.ts.', 'Out\\Kept.ts::$DATA', device]) strictEqual((await undo([path])).status, 400, path)
    strictEqual(read('Out/Kept.ts'), 'changed')
    deepStrictEqual((await (await undo(['c:/TEST/work/OUT\\kept.TS'])).json() as any).restored, ['C:\\test\\work\\Out\\Kept.ts'])
    strictEqual(read('Out/Kept.ts'), 'needle')
    rmSync(join(work, '.gitignore'))
  }],

  ['a file that a program has open is said to be in use, and stays as it is', async () => {
    writeFileSync(join(work, 'open.txt'), 'old')
    await tell('hold', { path: `${WORK}\\open.txt` })
    match((await call('writeFile', { path: 'open.txt', content: 'new' })).text, /in use by another program/)
    strictEqual(read('open.txt'), 'old')
    deepStrictEqual(readdirSync(work).filter((name) => name.startsWith('.')), [], 'and nothing is left beside it')
    await tell('letGo')
    await call('writeFile', { path: 'open.txt', content: 'new' })
    strictEqual(read('open.txt'), 'new')
  }]
]
