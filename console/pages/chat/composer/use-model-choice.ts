import type { RunOptions } from '../../../../client/generated/index.ts'
import { useDraft } from '../../../lib/draft.ts'

type Effort = NonNullable<RunOptions['effort']>
export const EFFORTS = ['none', 'low', 'medium', 'high', 'max'] as const satisfies Effort[]
const isEffort = (value: string): value is typeof EFFORTS[number] => (EFFORTS as readonly string[]).includes(value)

/** The model and the effort of the next messages in this tab; empty for the service's own choice. */
export function useModelChoice () {
  const [model, setModel] = useDraft('model')
  const [effort, setEffort] = useDraft('effort')
  const options: RunOptions = { ...model !== '' && { model }, ...isEffort(effort) && { effort } }
  return { model, setModel, effort, setEffort, options }
}
export type ModelChoice = ReturnType<typeof useModelChoice>
