import type { Slot } from '../../../client/generated/index.ts'

/** The sign and the colour of each fate of a planned time. */
export const FATES: Record<Slot['fate'], [sign: string, tone: string]> = {
  run: ['●', 'good'],
  coalesced: ['◐', 'calm'],
  skipped: ['–', 'calm'],
  missed: ['✕', 'bad']
}
