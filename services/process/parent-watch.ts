import type { Clock } from '../lib/clock.ts'
import { identityOf, isOlder, isRunning, ownIdentity, type Holder } from './process-identity.ts'
import { Usage } from '../lib/usage-error.ts'

const POLL_MS = 1_000

/**
 * Returns the process whose end shuts the service down. Throws Usage when no live process has that id, or when the process
 * started after the service.
 */
export async function findParent (pid: number): Promise<Holder> {
  const parent = await identityOf(pid)
  if (parent === undefined) {
    throw new Usage(`--parent-pid ${pid} is the id of no live process. Pass the id of the process that starts the service.`)
  }
  // A parent is older than its child: a younger process has reused the id of a parent that is gone.
  if (pid === process.pid || !isOlder(parent, ownIdentity())) {
    throw new Usage(`--parent-pid ${pid} is the id of a process that did not start the service. Pass the id of the process that starts it.`)
  }
  return parent
}

/** Resolves within about a second after the process has ended. */
export async function waitForExit (parent: Holder, clock: Clock): Promise<void> {
  while (await isAlive(parent)) await clock.sleep(POLL_MS)
}

/**
 * Whether the process lives. On POSIX systems an orphan gets another parent at once, so an unchanged parent id proves it;
 * Windows keeps the old id, so the system is queried.
 */
async function isAlive (parent: Holder): Promise<boolean> {
  return (process.platform !== 'win32' && process.ppid === parent.pid) || await isRunning(parent)
}
