// Runs a guarded command line and lives until it is killed.
import { spawnGuarded } from '../../../services/process/guarded.ts'
import { systemClock } from '../../../services/clock/clock.ts'

const child = await spawnGuarded('/bin/sh', ['-c', process.argv[2]], {
  cwd: '/', env: process.env, stdin: 'closed', clock: systemClock
})
child.stdout.pipe(process.stdout)
