import type { Config } from '../../schemas/config.ts'
import type { Clock } from '../lib/clock.ts'
import type { Store } from '../store/index.ts'
import type { PathPolicy } from '../tools/index.ts'

/** The collaborators of undo. */
export interface UndoParts {
  store: Store
  clock: Clock
  /** The configuration directory; the copies lie in its folder `undo`. */
  home: string
  paths: PathPolicy
  settings: () => Config['undo']
  /** Whether a run, of a conversation or a task, is not over: undefined when it is not known. */
  isLive: (runId: string) => Promise<boolean | undefined>
  log: { warn(details: object, message: string): void }
}
