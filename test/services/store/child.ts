// A process that a test starts: `hold` keeps a store open, `lock` only the lock file, `open` tells how opening ended.
import { systemClock } from '../../../services/lib/clock.ts'
import { acquireLock } from '../../../services/store/directory-lock.ts'
import { openStore } from '../../../services/store/open.ts'

const [mode, dir] = process.argv.slice(2)
try {
  if (mode === 'lock') await acquireLock(dir)
  else await openStore({ dir, clock: systemClock })
  console.log('ok')
} catch (error) {
  const { code, exitCode } = error as { code: string, exitCode: number }
  console.log(code)
  process.exit(exitCode)
}
setInterval(() => {}, 60_000) // until it is killed
