import { fork } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, readdirSync, realpathSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Test } from 'tap'
import { build } from './helper.ts'

type Execute = ReturnType<typeof build>['execute']

/** Each tool on a folder or file that is swapped, one call a round: how many got through. Fails on anything that was outside. */
export const RACES: Record<string, { entry: string, work: (t: Test, execute: Execute, round: number) => Promise<number> }> = {
  'a folder that is read in': {
    entry: 'sub',
    work: (t, execute, round) => reads(t, execute('readFile', { path: round % 2 ? 'sub/file.txt' : 'sub/inner/file.txt' }))
  },
  'a file that is read': {
    entry: 'sub/file.txt',
    work: (t, execute) => reads(t, execute('readFile', { path: 'sub/file.txt' }))
  },
  'a folder that is written in, listed and deleted': {
    entry: 'sub',
    async work (t, execute, round) {
      const results = [
        await execute('writeFile', { path: 'sub/file.txt', content: 'inside' }),
        await execute('writeFile', { path: 'sub/new/file.txt', content: 'inside' }),
        await execute('listDirectory', { path: 'sub', depth: 3 }),
        await execute('deleteFile', { path: round % 2 ? 'sub/new' : 'sub/inner', recursive: true }),
        await execute('writeFile', { path: 'sub/inner/file.txt', content: 'inside' })
      ]
      return through(t, results)
    }
  },
  'a file that is written and deleted': {
    entry: 'sub/file.txt',
    async work (t, execute) {
      return through(t, [
        await execute('writeFile', { path: 'sub/file.txt', content: 'inside' }),
        await execute('deleteFile', { path: 'sub/file.txt' })
      ])
    }
  },
  'a folder within one that is deleted': {
    entry: 'sub/inner',
    async work (t, execute) {
      return through(t, [
        await execute('writeFile', { path: 'sub/inner/deep/file.txt', content: 'inside' }),
        await execute('deleteFile', { path: 'sub', recursive: true })
      ])
    }
  },
  'a folder that is moved into and out of': {
    entry: 'sub',
    async work (t, execute, round) {
      return through(t, [
        await execute('writeFile', { path: 'sub/file.txt', content: 'inside' }),
        await execute('moveFile', { from: 'sub/file.txt', to: `moved-${round}.txt` }),
        await execute('moveFile', { from: `moved-${round}.txt`, to: 'sub/new/file.txt', overwrite: true }),
        await execute('editFile', {
          path: 'sub/new/file.txt',
          edits: [{ oldText: 'in', newText: 'in' }, { oldText: 'side', newText: 'side ' }]
        })
      ])
    }
  },
  'a folder that is searched': {
    entry: 'sub/inner',
    work: async (t, execute) =>
      through(t, [await execute('searchFiles', { pattern: '.' }), await execute('findFiles', { pattern: '*', path: 'sub' })])
  },
  'the folder a command runs in': {
    entry: 'sub',
    work: async (t, execute) => through(t, [await execute('runCommand', { command: 'ls; cat file.txt', cwd: 'sub' })])
  }
}

async function reads (t: Test, call: ReturnType<Execute>): Promise<number> {
  const result = await call
  if (result.status === 'error') return 0
  if (result.output.content !== 'inside') t.fail(`leaked ${result.output.content}`)
  return 1
}

function through (t: Test, results: Array<Awaited<ReturnType<Execute>>>): number {
  const text = JSON.stringify(results)
  if (/kept\.txt|SECRET/.test(text)) t.fail(`showed the outside: ${text}`)
  return results.filter(({ status }) => status === 'completed').length
}

/** Runs a race for `ms` in a workspace where another process swaps the entry for a symlink to the outside, all the time. */
export async function race (t: Test, name: string, ms: number): Promise<void> {
  const { entry, work } = RACES[name]
  const base = realpathSync(t.testdir({
    work: { sub: { 'file.txt': 'inside', inner: { 'file.txt': 'inside' } } },
    outside: { sub: { 'file.txt': 'SECRET', 'kept.txt': 'SECRET', inner: { 'file.txt': 'SECRET', 'kept.txt': 'SECRET' } } }
  }))
  const outside =
    () => [readdirSync(join(base, 'outside'), { recursive: true }).sort(), readFileSync(join(base, 'outside/sub/file.txt'), 'utf8')]
  const before = outside()
  const { execute } = build({ workspace: join(base, 'work') })
  const swapper = fork(fileURLToPath(new URL('swapper.ts', import.meta.url)), [join(base, 'work', entry), join(base, 'outside', entry)], {
    execArgv: []
  })
  await once(swapper, 'message')
  let passed = 0
  let rounds = 0
  try {
    for (const end = Date.now() + ms; Date.now() < end || passed === 0; rounds++) passed += await work(t, execute, rounds)
  } finally {
    swapper.kill('SIGKILL')
    await once(swapper, 'exit')
  }
  t.ok(passed > 0, `the race was run: ${passed} calls of ${rounds} rounds got through`)
  t.same(outside(), before, 'the outside is as it was')
}
