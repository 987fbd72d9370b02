import { execFileSync } from 'node:child_process'
import t from 'tap'

/** Runs a command on a file system of 8 MiB of its own, in a namespace that ends with it. */
const onSmallDisk = (dir: string, ...command: string[]) => execFileSync('unshare',
  ['--map-root-user', '--mount', 'sh', '-c', 'mount -t tmpfs -o size=8m tmpfs "$0" && exec "$@"', dir, ...command],
  { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })

function smallDisksWork (dir: string): boolean {
  try {
    onSmallDisk(dir, 'true')
    return true
  } catch {
    return false
  }
}

t.test('on a disk that runs full no acknowledged write is lost, and the store comes back once there is room', async (t) => {
  const dir = t.testdir()
  if (!smallDisksWork(dir)) return t.pass('not tried', { skip: 'mounting a small file system is not permitted here' })

  const seen = JSON.parse(onSmallDisk(dir, process.execPath, new URL('full-disk.ts', import.meta.url).pathname, dir))

  t.match(seen.failure, /ERR_STORE_UNAVAILABLE.*No space left/)
  t.equal(seen.latched.state, 'latched')
  t.match(seen.late, /ERR_STORE_UNAVAILABLE/)
  t.ok(seen.acknowledged.length > 50, 'the disk took some writes')
  t.equal(seen.acknowledged.at(-1), 'k/room')
  t.same(seen.found, seen.acknowledged)
  t.same(seen.kept, seen.acknowledged)
})
