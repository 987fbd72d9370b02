import t from 'tap'
import { onSmallDisk } from '../../harness/small-disk.ts'

t.test('on a disk that runs full no acknowledged write is lost, and the store comes back once there is room', async (t) => {
  const seen = onSmallDisk(t.testdir(), new URL('full-disk.ts', import.meta.url))
  if (!seen) return t.pass('not tried', { skip: 'mounting a small file system is not permitted here' })

  t.match(seen.failure, /ERR_STORE_UNAVAILABLE.*No space left/)
  t.equal(seen.latched.state, 'latched')
  t.match(seen.late, /ERR_STORE_UNAVAILABLE/)
  t.ok(seen.acknowledged.length > 50, 'the disk took some writes')
  t.equal(seen.acknowledged.at(-1), 'k/room')
  t.same(seen.found, seen.acknowledged)
  t.same(seen.kept, seen.acknowledged)
  return undefined
})
