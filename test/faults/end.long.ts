import { spawn } from 'node:child_process'
import t from 'tap'
import { endWithEverythingOpen } from './end.ts'

const ENDS = 100
/** Services that live and end side by side. */
const AT_ONCE = 3

t.test('SIGTERM with thirty of everything open ends the service in time, loses no acknowledged write and leaves no process', (t) =>
  endWithEverythingOpen(t, 30))

t.test(`SIGTERM with everything open ends the service with 0 on a busy machine, ${ENDS} times of ${ENDS}`, { jobs: AT_ONCE }, async (t) => {
  for (let n = 0; n < 2; n++) {
    const busy = spawn('/bin/sh', ['-c', 'while :; do :; done'], { stdio: 'ignore' })
    t.teardown(() => busy.kill('SIGKILL'))
  }
  await Promise.all(
    Array.from({ length: ENDS }, (_, n) => t.test(`end ${n + 1}`, { buffered: true }, (t) => endWithEverythingOpen(t, 1, { loaded: true })))
  )
})
