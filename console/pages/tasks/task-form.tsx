import { useState, type FormEvent, type ReactNode } from 'react'
import { useAgents } from '../../lib/agents.ts'
import { say } from '../../lib/say.ts'
import { AgentSelect } from '../../parts/agent-select.tsx'
import { Failed } from '../../parts/failed.tsx'
import { FolderField } from '../../parts/folders/folder-field.tsx'
import { ModelPicker } from '../../parts/models/model-picker.tsx'
import { countsRuns, MODES, OTHER_MODES, TYPES, type FieldsProps, type FormValues } from './form-values.ts'
import { OnceFields, ScheduleFields } from './schedule-fields.tsx'
import { SentenceSchedule, useHeardTime } from './sentence-schedule.tsx'
import type { Task } from './task-queries.ts'
import { triggerProblem, TriggersFields } from './trigger-fields.tsx'
import './tasks.css'

interface Props extends FieldsProps {
  /** The task that is edited; its type cannot change. */
  task?: Task
  error: unknown
  onSubmit: () => void
  /** The buttons. */
  children: ReactNode
}

/** The fields of a task: its goal, its schedule, the calls that it is allowed to make without asking, and its limits. */
export function TaskForm ({ values, set, task, error, onSubmit, children }: Props) {
  const isChange = task !== undefined
  const named = useHeardTime(values)
  const heard = isChange ? undefined : named
  const isHeard = heard !== undefined && !values.hasOwnTime
  // Fields that the user sets take precedence over the time in the goal.
  const setTime = (some: Partial<FormValues>) => set({ ...some, hasOwnTime: true })
  const problem = triggerProblem(error)
  const submit = (event: FormEvent) => {
    event.preventDefault()
    onSubmit()
  }
  return (
    <form className='form' onSubmit={submit}>
      <label className='field'>
        <span>{say('tasks.goal')}</span>
        <textarea
          rows={4}
          required
          placeholder={isChange ? undefined : say('tasks.goalHint')}
          maxLength={20_000}
          value={values.goal}
          onChange={({ target }) => set({ goal: target.value })}
          aria-describedby='goal-help'
        />
        <span id='goal-help' className='quiet'>{say('tasks.goalHelp')}</span>
      </label>
      <label className='field'>
        <span>{say('tasks.name')}</span>
        <input
          value={values.name} maxLength={80} placeholder={say('tasks.nameHint')}
          onChange={({ target }) => set({ name: target.value })}
        />
      </label>
      {heard !== undefined && <SentenceSchedule heard={heard} values={values} set={set} />}
      {!isChange && !isHeard && (
        <fieldset>
          <legend>{say('tasks.when')}</legend>
          {TYPES.map((taskType) => (
            <Choice
              key={taskType}
              name='taskType'
              isChosen={values.taskType === taskType}
              onChoose={() => setTime({ taskType })}
              text={say(`tasks.typeName.${taskType}`)}
            />
          ))}
        </fieldset>
      )}
      {!isHeard && <TimeFields values={values} set={setTime} task={task} problem={problem} />}
      <ModeFields values={values} set={set} />
      <details>
        <summary>{say('tasks.more')}</summary>
        <More values={values} set={set} />
      </details>
      {error !== null && error !== undefined && problem === undefined && <Failed error={error} />}
      <div className='actions'>{children}</div>
    </form>
  )
}

/** The fields for the time of a task, except for its type. */
function TimeFields ({ values, set, task, problem }: FieldsProps & { task?: Task, problem: ReturnType<typeof triggerProblem> }) {
  const hasTime = task?.schedule !== undefined
  return (
    <>
      {values.taskType === 'recurring' && <ScheduleFields values={values} set={set} />}
      {values.taskType === 'one_shot' && (task === undefined || hasTime) && <OnceFields values={values} set={set} isNeeded={hasTime} />}
      {values.taskType !== 'one_shot' && <TriggersFields values={values} set={set} ownId={task?.id} problem={problem} />}
    </>
  )
}

/** The approval mode: two modes first, the others behind a button. */
function ModeFields ({ values, set }: FieldsProps) {
  const isOther = OTHER_MODES.some((mode) => mode === values.mode)
  const [isOpen, setIsOpen] = useState(isOther)
  const choice = (mode: FormValues['mode']) => (
    <Choice
      key={mode}
      name='mode'
      isChosen={values.mode === mode}
      onChoose={() => set({ mode })}
      text={say(`tasks.modeName.${mode}`)}
      help={say(`tasks.modeHelp.${mode}`)}
    />
  )
  return (
    <fieldset>
      <legend>{say('tasks.approval')}</legend>
      {MODES.map(choice)}
      <details open={isOpen || isOther} onToggle={({ currentTarget }) => setIsOpen(currentTarget.open)}>
        <summary>{say('tasks.moreModes')}</summary>
        <div className='form unfolded'>
          {OTHER_MODES.map(choice)}
          {countsRuns(values.mode) && (
            <label className='field'>
              <span>{say('tasks.firstN')}</span>
              <input
                type='number' min={1} max={1_000} required value={values.firstN}
                onChange={({ target }) => set({ firstN: target.value })}
              />
            </label>
          )}
        </div>
      </details>
    </fieldset>
  )
}

interface ChoiceProps {
  name: string
  isChosen: boolean
  onChoose: () => void
  text: string
  help?: string
}

function Choice ({ name, isChosen, onChoose, text, help }: ChoiceProps) {
  return (
    <label className='choice'>
      <input type='radio' name={name} checked={isChosen} onChange={onChoose} />
      <span>{text}</span>
      {help && <span className='quiet'>{help}</span>}
    </label>
  )
}

function More ({ values, set }: FieldsProps) {
  const hasAgents = (useAgents().data?.agents.length ?? 0) > 0
  return (
    <div className='form unfolded'>
      <FolderField label={say('tasks.cwd')} value={values.cwd} placeholder={say('tasks.cwdHelp')} onChange={(cwd) => set({ cwd })} />
      {(hasAgents || values.agent !== '') && (
        <label className='field'>
          <span>{say('tasks.option.agent')}</span>
          <AgentSelect value={values.agent} onChange={(agent) => set({ agent })} />
        </label>
      )}
      <div className='field'>
        <span>{say('tasks.option.model')}</span>
        <ModelPicker
          label={say('tasks.option.model')} value={values.model} usual={say('tasks.modelHelp')} onChange={(model) => set({ model })}
        />
      </div>
      <label className='field'>
        <span>{say('tasks.option.instructions')}</span>
        <textarea rows={3} maxLength={20_000} value={values.instructions} onChange={({ target }) => set({ instructions: target.value })} />
      </label>
      <div className='fields'>
        <label className='field'>
          <span>{say('tasks.usdLimit')}</span>
          <input type='number' min={0.01} step='any' value={values.usd} onChange={({ target }) => set({ usd: target.value })} />
        </label>
        <label className='field'>
          <span>{say('tasks.minutesLimit')}</span>
          <input
            type='number'
            min={1}
            step='any'
            max={1_440}
            value={values.minutes}
            onChange={({ target }) => set({ minutes: target.value })}
            placeholder='30'
          />
        </label>
        <label className='field'>
          <span>{say('tasks.ends')}</span>
          <input type='datetime-local' value={values.ends} onChange={({ target }) => set({ ends: target.value })} />
        </label>
      </div>
    </div>
  )
}
