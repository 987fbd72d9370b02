import { sayValue } from '../lib/say.ts'

const TONES: Record<string, [tone: string, sign: string]> = {
  completed: ['good', '✓'],
  connected: ['good', '✓'],
  failed: ['bad', '✕'],
  lastRunFailed: ['bad', '✕'],
  failing: ['bad', '✕'],
  rejected: ['bad', '✕'],
  denied: ['bad', '✕'],
  running: ['busy', '▶'],
  connecting: ['busy', '▶'],
  queued: ['calm', '○'],
  planned: ['calm', '○'],
  pending: ['calm', '○'],
  skipped: ['calm', '–'],
  notRun: ['calm', '–'],
  nothingToDo: ['calm', '·'],
  missed: ['bad', '✕'],
  notAnswered: ['calm', '–'],
  unknown: ['warn', '?'],
  scheduled: ['calm', '○'],
  pending_approval: ['warn', '!'],
  waiting: ['warn', '!'],
  resultWaits: ['warn', '!'],
  waiting_for_app: ['warn', '!'],
  authorizing: ['warn', '!'],
  skill_known: ['good', '✓'],
  skill_new: ['calm', '○'],
  skill_changed: ['warn', '!'],
  skill_refused: ['bad', '✕'],
  skill_hidden: ['calm', '–'],
  paused: ['calm', '❚❚'],
  cancelled: ['calm', '–'],
  interrupted: ['warn', '–']
}

/**
 * A state by sign, word and colour together. `value` is the word of the service; its text is `status.<value>`. `why` is told behind it.
 */
export function Status ({ value, why }: { value: string, why?: string }) {
  const [tone, sign] = TONES[value] ?? ['calm', '·']
  return (
    <span className={`status status-${tone}`}>
      <span aria-hidden='true'>{sign}</span> <span className='status-word'>{sayValue('status', value)}{why && `: ${why}`}</span>
    </span>
  )
}
