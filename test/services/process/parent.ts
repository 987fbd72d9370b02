// Runs a guarded command line and lives until it is killed.
import { spawnGuarded } from '../../../services/process/spawn-guarded.ts'
import { systemClock } from '../../../services/lib/clock.ts'

const child = await spawnGuarded('/bin/sh', ['-c', process.argv[2]], {
  cwd: '/',
  env: process.env,
  stdin: 'closed',
  clock: systemClock
})
child.stdout.pipe(process.stdout)
