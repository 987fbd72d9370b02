import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import t from 'tap'
import { rotatingFile } from '../../../services/log/rotating-file.ts'

const posix = process.platform === 'win32' && 'uses modes and links'
const line = (n: number) => Buffer.from(`${String(n).padStart(9, '0')}\n`)

t.test('begins a new file when one is full, and keeps the newest', async (t) => {
  const dir = t.testdir()
  const path = `${dir}/logs/a.log`
  const file = rotatingFile({ path, maxBytes: 30, keep: 2 })
  for (let n = 0; n < 11; n++) t.equal(await file.write(line(n)), 10)
  await file.close()
  const numbers = (name: string) => readFileSync(name, 'utf8').trim().split('\n').map(Number)
  t.same([path, `${path}.1`, `${path}.2`].map(numbers), [[9, 10], [6, 7, 8], [3, 4, 5]])
  t.same(readdirSync(`${dir}/logs`).sort(), ['a.log', 'a.log.1', 'a.log.2'])

  const again = rotatingFile({ path, maxBytes: 30, keep: 2 })
  await again.write(line(11))
  await again.write(line(12))
  await again.close()
  t.same([path, `${path}.1`].map(numbers), [[12], [9, 10, 11]], 'goes on with a file of before')
})

t.test('keeps no older file when none is wanted, and writes a line that is larger than a file', async (t) => {
  const path = `${t.testdir()}/a.log`
  const file = rotatingFile({ path, maxBytes: 15, keep: 0 })
  await file.write(line(1))
  await file.write(Buffer.alloc(40, 'x'))
  await file.write(line(2))
  await file.close()
  t.equal(readFileSync(path, 'utf8'), line(2).toString())
  t.notOk(existsSync(`${path}.1`))
})

t.test('only the user can read it, and it is never a link or a pipe', { skip: posix }, async (t) => {
  const dir = t.testdir({ target: 'mine' })
  const file = rotatingFile({ path: `${dir}/a.log`, maxBytes: 100, keep: 1 })
  await file.write(line(1))
  t.equal(statSync(`${dir}/a.log`).mode & 0o777, 0o600)
  await file.close()
  symlinkSync(`${dir}/target`, `${dir}/link.log`)
  await t.rejects(rotatingFile({ path: `${dir}/link.log`, maxBytes: 100, keep: 1 }).write(line(1)), { code: 'ELOOP' })
  t.equal(readFileSync(`${dir}/target`, 'utf8'), 'mine')
  execFileSync('mkfifo', [`${dir}/pipe.log`])
  await t.rejects(rotatingFile({ path: `${dir}/pipe.log`, maxBytes: 100, keep: 1 }).write(line(1)), { code: 'ENXIO' })
})

t.test('opens the file again after a failure', async (t) => {
  const dir = t.testdir({ logs: 'a file where the folder belongs' })
  const file = rotatingFile({ path: `${dir}/logs/a.log`, maxBytes: 100, keep: 1 })
  await t.rejects(file.write(line(1)))
  execFileSync('rm', [`${dir}/logs`])
  t.equal(await file.write(line(1)), 10)
  await file.close()
  t.equal(readFileSync(`${dir}/logs/a.log`, 'utf8'), line(1).toString())
})

t.test('a removed file does not stop it', async (t) => {
  const dir = t.testdir({ 'a.log': '' })
  const file = rotatingFile({ path: `${dir}/a.log`, maxBytes: 15, keep: 1 })
  await file.write(line(1))
  execFileSync('rm', [`${dir}/a.log`])
  writeFileSync(`${dir}/a.log.1`, 'older')
  await file.write(line(2))
  await file.close()
  t.equal(readFileSync(`${dir}/a.log`, 'utf8'), line(2).toString())
})

t.test('a folder that was removed, or a file that was moved away, is made anew', { skip: posix }, async (t) => {
  const dir = t.testdir()
  const path = `${dir}/logs/a.log`
  const file = rotatingFile({ path, maxBytes: 1000, keep: 1 })
  await file.write(line(1))
  execFileSync('rm', ['-r', `${dir}/logs`])
  await file.write(line(2))
  t.equal(readFileSync(path, 'utf8'), line(2).toString())
  execFileSync('mv', [path, `${path}.moved`])
  await file.write(line(3))
  await file.close()
  t.equal(readFileSync(path, 'utf8'), line(3).toString())
})
