import { useMemo, type FormEvent } from 'react'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { putAgent, type NamedAgent, type NamedOptions } from '../../../../client/generated/index.ts'
import { useForm } from '../../../lib/draft.ts'
import { EFFORTS } from '../../../lib/efforts.ts'
import { keys } from '../../../lib/queries.ts'
import { say } from '../../../lib/say.ts'
import { asked } from '../../../lib/service.ts'
import { useAnnounce } from '../../../parts/announcer.tsx'
import { Button } from '../../../parts/button.tsx'
import { Failed } from '../../../parts/failed.tsx'
import { Field } from '../../../parts/field.tsx'
import { ModelPicker } from '../../../parts/models/model-picker.tsx'

const lines = (text: string): string[] => [...new Set(text.split('\n').map((line) => line.trim()).filter((line) => line !== ''))]

/** Returns the initial values of the fields. */
const valuesOf = ({ name = '', description = '', options = {} }: Partial<NamedAgent> = {}) => ({
  ...{ name, description, instructions: options.instructions ?? '', model: options.model ?? '', effort: String(options.effort ?? '') },
  ...{ allowed: options.allowTools?.join('\n') ?? '', denied: options.denyTools?.join('\n') ?? '' }
})

/** The form of a new or an existing agent. Options without a field stay unchanged. */
export function AgentForm ({ agent, onSaved }: { agent?: NamedAgent, onSaved: () => void }) {
  const { options = {} } = agent ?? {}
  const begin = useMemo(() => valuesOf(agent), [agent])
  const { values, set, clear } = useForm(`agent ${agent?.name ?? ''}`, begin)
  const { name, description, instructions, model, effort, allowed, denied } = values
  const on = (field: keyof typeof values) => ({ target }: { target: { value: string } }) => set({ [field]: target.value })
  const queries = useQueryClient()
  const announce = useAnnounce()
  const save = useMutation({
    mutationFn: () => putAgent({ ...asked(), path: { name }, body: { description, options: chosen() } }),
    async onSuccess () {
      await queries.invalidateQueries({ queryKey: keys.agents() })
      announce(say('settings.agentSaved', { name }))
      clear()
      onSaved()
    }
  })

  function chosen (): NamedOptions {
    const { instructions: _i, model: _m, effort: _e, allowTools: _a, denyTools: _d, ...kept } = options
    return {
      ...kept,
      ...instructions.trim() !== '' && { instructions },
      ...model !== '' && { model },
      ...effort !== '' && { effort: effort as NamedOptions['effort'] },
      ...lines(allowed).length > 0 && { allowTools: lines(allowed) },
      ...lines(denied).length > 0 && { denyTools: lines(denied) }
    }
  }
  const submit = (event: FormEvent) => {
    event.preventDefault()
    save.mutate()
  }
  return (
    <form className='form' onSubmit={submit}>
      {agent === undefined && (
        <Field label={say('settings.agentName')} hint={say('settings.serverNameHint')}>
          {(help) => <input {...help} required pattern='[A-Za-z0-9][A-Za-z0-9._\-]{0,63}' value={name} onChange={on('name')} />}
        </Field>
      )}
      <Field label={say('settings.agentDescription')}>
        {(help) => <input {...help} maxLength={1_000} value={description} onChange={on('description')} />}
      </Field>
      <Field label={say('settings.agentInstructions')} hint={say('settings.agentInstructionsHint')}>
        {(help) => <textarea {...help} rows={5} maxLength={20_000} value={instructions} onChange={on('instructions')} />}
      </Field>
      <div className='field'>
        <span>{say('settings.chooseModel')}</span>
        <ModelPicker
          label={say('settings.chooseModel')} value={model} usual={say('settings.agentModelUsual')}
          onChange={(next) => set({ model: next })}
        />
      </div>
      <Field label={say('chat.effort')}>
        {(help) => (
          <select {...help} value={effort} onChange={on('effort')}>
            <option value=''>{say('chat.effortDefault')}</option>
            {!(EFFORTS as readonly string[]).includes(effort) && effort !== '' && <option value={effort}>{effort}</option>}
            {EFFORTS.map((each) => <option key={each} value={each}>{say(`chat.efforts.${each}`)}</option>)}
          </select>
        )}
      </Field>
      <Field label={say('settings.agentAllowed')} hint={say('settings.agentAllowedHint')}>
        {(help) => <textarea {...help} rows={2} spellCheck={false} value={allowed} onChange={on('allowed')} />}
      </Field>
      <Field label={say('settings.agentDenied')}>
        {(help) => <textarea {...help} rows={2} spellCheck={false} value={denied} onChange={on('denied')} />}
      </Field>
      {save.error !== null && <Failed error={save.error} />}
      <div className='actions'>
        <Button kind='primary' type='submit' isBusy={save.isPending}>{say('settings.save')}</Button>
      </div>
    </form>
  )
}
