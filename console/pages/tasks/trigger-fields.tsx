import { useInfiniteQuery } from '@tanstack/react-query'
import { plainText } from '../../lib/plain-fields.ts'
import { say } from '../../lib/say.ts'
import { visibleText } from '../../lib/visible-characters.ts'
import { Button } from '../../parts/button.tsx'
import { FolderField } from '../../parts/folders/folder-field.tsx'
import type { FieldsProps, TriggerFields } from './form-values.ts'
import { taskList } from './task-queries.ts'

/** The maximum number of triggers of a task. */
const MOST = 10
const ENDS = ['completed', 'failed'] as const

interface Problem {
  /** The index of the trigger. */
  at: number
  text: string
}

/** Returns the trigger that an error of the service is about, and the error's text; undefined for other errors. */
export function triggerProblem (error: unknown): Problem | undefined {
  const found = error instanceof Error ? /^body\/triggers\/(\d+)(?:: |\/?)(.*)$/s.exec(error.message) : null
  return found === null ? undefined : { at: Number(found[1]), text: plainText(found[2]) }
}

interface Props extends FieldsProps {
  /** The id of the edited task, which cannot be its own trigger. */
  ownId?: string
  problem?: Problem
}

/** The fields of triggers: changed files, and ends of other tasks. */
export function TriggersFields ({ values: { triggers, cwd }, set, ownId, problem }: Props) {
  const add = (trigger: TriggerFields) => set({ triggers: [...triggers, trigger] })
  return (
    <fieldset>
      <legend>{say('tasks.triggers')}</legend>
      {triggers.length === 0 && <p className='quiet'>{say('tasks.triggersHelp')}</p>}
      {triggers.map((trigger, at) => {
        const own = problem?.at === at ? problem.text : undefined
        const change = (some: Partial<TriggerFields>) =>
          set({ triggers: triggers.map((each, n) => n === at ? { ...each, ...some } as TriggerFields : each) })
        return (
          <div key={at} className='trigger' role='group' aria-label={say('tasks.triggerNumber', { number: at + 1 })}>
            {trigger.type === 'files'
              ? <FilesFields trigger={trigger} change={change} isWrong={own !== undefined} cwd={cwd} />
              : <EndFields trigger={trigger} change={change} ownId={ownId} isWrong={own !== undefined} />}
            <Button onClick={() => set({ triggers: triggers.filter((_, n) => n !== at) })}>{say('tasks.removeTrigger')}</Button>
            {own !== undefined && <p className='field-error' role='alert'>{own}</p>}
          </div>
        )
      })}
      {triggers.length < MOST && (
        <div className='actions'>
          <Button onClick={() => add({ type: 'files', path: '', glob: '' })}>{say('tasks.addFiles')}</Button>
          <Button onClick={() => add({ type: 'task', taskId: '', on: 'completed' })}>{say('tasks.addEnd')}</Button>
        </div>
      )}
    </fieldset>
  )
}

interface FieldProps<T> {
  trigger: T
  change: (some: Partial<TriggerFields>) => void
  isWrong: boolean
}

function FilesFields ({ trigger: { path, glob }, change, isWrong, cwd }: FieldProps<TriggerFields & { type: 'files' }> & { cwd: string }) {
  return (
    <div className='fields'>
      <FolderField
        label={say('tasks.triggerFolder')} placeholder={say('tasks.triggerFolderHelp')} required pattern='.*\S.*' aria-invalid={isWrong}
        value={path} cwd={cwd} onChange={(next) => change({ path: next })}
      />
      <label className='field'>
        <span>{say('tasks.triggerGlob')}</span>
        <input
          className='mono'
          maxLength={1_000}
          value={glob}
          onChange={({ target }) => change({ glob: target.value })}
          placeholder={say('tasks.triggerGlobHelp')}
        />
      </label>
    </div>
  )
}

interface EndProps extends FieldProps<TriggerFields & { type: 'task' }> {
  ownId?: string
}

function EndFields ({ trigger: { taskId, on }, change, isWrong, ownId }: EndProps) {
  const { data } = useInfiniteQuery(taskList({}))
  const others = data?.pages.flatMap(({ tasks }) => tasks).filter(({ id }) => id !== ownId) ?? []
  const isListed = taskId === '' || others.some(({ id }) => id === taskId)
  return (
    <div className='fields'>
      <label className='field'>
        <span>{say('tasks.triggerTask')}</span>
        <select required aria-invalid={isWrong} value={taskId} onChange={({ target }) => change({ taskId: target.value })}>
          <option value=''>{say(data !== undefined && others.length === 0 ? 'tasks.noOtherTask' : 'tasks.chooseTask')}</option>
          {!isListed && <option value={taskId}>{say('tasks.trigger.otherTask')}</option>}
          {others.map(({ id, name }) => <option key={id} value={id}>{visibleText(name)}</option>)}
        </select>
      </label>
      <label className='field'>
        <span>{say('tasks.triggerEnd')}</span>
        <select value={on} onChange={({ target }) => change({ on: ENDS.find((name) => name === target.value) })}>
          {ENDS.map((name) => <option key={name} value={name}>{say(`tasks.triggerEnds.${name}`)}</option>)}
        </select>
      </label>
    </div>
  )
}
