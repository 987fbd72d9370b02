import { closeSync, constants, openSync } from 'node:fs'
import t from 'tap'
import { countedWhole, openPipe, place, readLate, startOn } from '../process/sinks.ts'
import { onSmallDisk } from '../harness/small-disk.ts'

t.test('a descriptor that cannot be written', async (t) => {
  await (await startOn(t, openSync('/dev/null', constants.O_RDONLY))).end()
})

t.test('a pipe that is closed', async (t) => {
  const where = place(t)
  const { reader, writer } = openPipe(where.cwd)
  const { end } = await startOn(t, writer, where)
  closeSync(reader)
  await end()
})

t.test('a socket that is read late gets the lines kept, and how many are lost', (t) => readLate(t, 'socket'))

t.test('a file on a disk that runs full gets the lines kept once there is room, and how many are lost', async (t) => {
  const seen = onSmallDisk(t.testdir(), new URL('log-disk.ts', import.meta.url), 4)
  if (!seen) return t.pass('not tried', { skip: 'mounting a small file system is not permitted here' })
  t.match(seen, { health: 200, code: 0 })
  countedWhole(t, seen.log)
  return undefined
})
