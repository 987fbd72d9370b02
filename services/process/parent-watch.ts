import type { Clock } from '../lib/clock.ts'
import { identityOf, isOlder, isRunning, ownIdentity, type Holder } from './process-identity.ts'
import { Usage } from '../lib/usage-error.ts'

const POLL_MS = 1_000

/** The process that the service is to end with. Throws Usage when no live process, or a younger one, has that id. */
export async function findParent (pid: number): Promise<Holder> {
  const parent = await identityOf(pid)
  if (parent === undefined) {
    throw new Usage(`--parent-pid ${pid} is the id of no live process. Pass the id of the process that starts the service.`)
  }
  // The parent was there before its child: a younger process has the id of a parent that is gone.
  if (pid === process.pid || !isOlder(parent, ownIdentity())) {
    throw new Usage(`--parent-pid ${pid} is the id of a process that did not start the service. Pass the id of the process that starts it.`)
  }
  return parent
}

/** Resolves when the process is gone, within about a second. */
export async function untilGone (parent: Holder, clock: Clock): Promise<void> {
  while (await isThere(parent)) await clock.sleep(POLL_MS)
}

/** A child of a process that ended gets another parent at once; Windows keeps the old one's id. Of all others the system is asked. */
async function isThere (parent: Holder): Promise<boolean> {
  return (process.platform !== 'win32' && process.ppid === parent.pid) || await isRunning(parent)
}
