import { useMutation, useQuery } from '@tanstack/react-query'
import { useState, type FormEvent } from 'react'
import { getConfig, patchConfig } from '../../../../client/generated/index.ts'
import { keys, queries } from '../../../lib/queries.ts'
import { say } from '../../../lib/say.ts'
import { asked, body } from '../../../lib/service.ts'
import { useAnnounce } from '../../../parts/announcer.tsx'
import { Button } from '../../../parts/button.tsx'
import { Failed } from '../../../parts/failed.tsx'
import { Loaded } from '../../../parts/loaded.tsx'

/** The part of the configuration that the form reads. */
interface Settings {
  budget?: { day?: { usd?: number, tokens?: number } }
  roots?: string[]
  providers?: Record<string, { baseURL?: string }>
}
export const configQuery = { queryKey: keys.config(), queryFn: () => getConfig(asked()).then(body) as Promise<Settings> }

/** The budget of all model calls of a day; an empty field is no limit. */
export function Budget () {
  const config = useQuery(configQuery)
  return (
    <section className='section'>
      <h2>{say('settings.budget')}</h2>
      <p className='quiet'>{say('settings.budgetText')}</p>
      <Loaded query={config}>{({ budget }) => <BudgetForm usd={budget?.day?.usd} />}</Loaded>
    </section>
  )
}

function BudgetForm ({ usd }: { usd?: number }) {
  const [changed, setChanged] = useState<string>()
  const typed = changed ?? usd?.toString() ?? ''
  const announce = useAnnounce()
  const saving = useMutation({
    mutationFn: (next: number | undefined) => patchConfig({ ...asked(), body: { budget: { day: { usd: next ?? null } } } }),
    async onSuccess () {
      announce(say('settings.budgetSaved'))
      await queries.invalidateQueries({ queryKey: keys.config() })
      setChanged(undefined)
    }
  })
  const save = (event: FormEvent) => {
    event.preventDefault()
    saving.mutate(typed.trim() === '' ? undefined : Number(typed))
  }
  return (
    <form className='inline-form looks' onSubmit={save}>
      <label className='field'>
        <span>{say('settings.budgetDay')}</span>
        <input
          type='number' min='0.01' max='1000000' step='0.01' inputMode='decimal' placeholder={say('settings.budgetNone')}
          value={typed} onChange={({ target }) => setChanged(target.value)}
        />
      </label>
      <Button type='submit' isBusy={saving.isPending}>{say('settings.save')}</Button>
      {saving.isError && <Failed error={saving.error} />}
      {saving.isSuccess && <p className='quiet' role='status'>{say('settings.budgetSaved')}</p>}
    </form>
  )
}
