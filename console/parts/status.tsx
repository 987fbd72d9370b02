import { Check, Circle, CircleAlert, CircleHelp, Clock, LoaderCircle, Minus, Pause, X, type LucideIcon } from 'lucide-react'
import { sayValue } from '../lib/say.ts'

type Tone = 'good' | 'bad' | 'busy' | 'calm' | 'warn'

const TONES: Record<string, [tone: Tone, sign: LucideIcon]> = {
  ok: ['good', Check],
  degraded: ['warn', CircleAlert],
  completed: ['good', Check],
  connected: ['good', Check],
  failed: ['bad', X],
  lastRunFailed: ['bad', X],
  failing: ['bad', X],
  rejected: ['bad', X],
  denied: ['bad', X],
  running: ['busy', LoaderCircle],
  connecting: ['busy', LoaderCircle],
  queued: ['calm', Circle],
  planned: ['calm', Circle],
  pending: ['calm', Circle],
  held: ['calm', Circle],
  skipped: ['calm', Minus],
  notRun: ['calm', Minus],
  nothingToDo: ['calm', Minus],
  missed: ['bad', X],
  notAnswered: ['calm', Minus],
  unknown: ['warn', CircleHelp],
  scheduled: ['calm', Clock],
  pending_approval: ['warn', CircleAlert],
  waiting: ['warn', CircleAlert],
  resultWaits: ['warn', CircleAlert],
  waiting_for_app: ['warn', CircleAlert],
  authorizing: ['warn', CircleAlert],
  skill_known: ['good', Check],
  skill_new: ['calm', Circle],
  skill_changed: ['warn', CircleAlert],
  skill_refused: ['bad', X],
  skill_hidden: ['calm', Minus],
  paused: ['calm', Pause],
  cancelled: ['calm', Minus],
  interrupted: ['warn', Minus]
}

/**
 * A state, shown by a sign, a word and a colour. `value` is the service's name of the state; its text is `status.<value>`. `why` is shown
 * after it.
 */
export function Status ({ value, why }: { value: string, why?: string }) {
  const [tone, Sign] = TONES[value] ?? ['calm', Minus]
  return (
    <span className={`status status-${tone}`}>
      <Sign /> <span className='status-word'>{sayValue('status', value)}{why && `: ${why}`}</span>
    </span>
  )
}
