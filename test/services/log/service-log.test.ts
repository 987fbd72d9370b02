import { existsSync, readFileSync } from 'node:fs'
import t from 'tap'
import { systemClock } from '../../../services/lib/clock.ts'
import { logFile } from '../../../services/log/rotating-file.ts'
import { createServiceLog } from '../../../services/log/service-log.ts'
import type { Sink } from '../../../services/log/sink.ts'

function collecting () {
  const lines: string[] = []
  const stderr: Sink = { write: (line) => { lines.push(line) }, flush: async () => true, hangs: () => false }
  return { lines, stderr }
}

t.test('writes to stderr as its format says, and to a file as JSON', async (t) => {
  const dir = t.testdir()
  const { lines, stderr } = collecting()
  const log = createServiceLog({ stderr, clock: systemClock, format: (line) => line.toUpperCase() })
  log.write('{"a":1}\n')
  log.useFile(logFile(dir, { file: 'a.log' }))
  log.write('{"b":2}\n')
  await log.flushFile(5_000)
  t.same(lines, ['{"A":1}\n', '{"B":2}\n'])
  t.equal(readFileSync(`${dir}/a.log`, 'utf8'), '{"b":2}\n')
  t.equal(log.fileHangs(1_000), false)
})

t.test('a change of the configuration changes the file, and the same one goes on', async (t) => {
  const dir = t.testdir()
  const { stderr } = collecting()
  const log = createServiceLog({ stderr, clock: systemClock })
  await log.flushFile(1)
  log.useFile(logFile(dir, { file: true }))
  log.write('1\n')
  log.useFile(logFile(dir, { file: true, keep: 5 }))
  log.write('2\n')
  await log.flushFile(5_000)
  log.useFile(logFile(dir, { file: 'other.log' }))
  log.write('3\n')
  await log.flushFile(5_000)
  log.useFile(logFile(dir))
  log.write('4\n')
  t.equal(readFileSync(`${dir}/logs/local-agent.log`, 'utf8'), '1\n2\n')
  t.equal(readFileSync(`${dir}/other.log`, 'utf8'), '3\n')
  t.notOk(existsSync(`${dir}/false`))
  t.equal(log.fileHangs(0), false)
})
