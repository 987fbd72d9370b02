import { type FormEvent, useState } from 'react'
import { plainWords } from '../../../lib/plain-words.ts'
import { say } from '../../../lib/say.ts'
import { sayDuration } from '../../../lib/time.ts'
import { Button } from '../../../parts/button.tsx'
import { Failed } from '../../../parts/failed.tsx'
import { ListErrors } from '../../../parts/models/list-errors.tsx'
import { ModelPicker } from '../../../parts/models/model-picker.tsx'
import { useConfigure, useModelTest } from '../../../parts/models/model-queries.ts'

/** Chooses the model for the next runs, and tests it. */
export function ActiveModel ({ active }: { active: string }) {
  const [chosen, setChosen] = useState<string>()
  const configure = useConfigure()
  const value = chosen ?? active
  const submit = (event: FormEvent) => {
    event.preventDefault()
    configure.mutate({ model: value }, { onSuccess: () => setChosen(undefined) })
  }
  return (
    <section className='section'>
      <h2>{say('settings.activeModel')}</h2>
      <form className='inline-form' onSubmit={submit}>
        <div className='field'>
          <span>{say('settings.chooseModel')}</span>
          <ModelPicker label={say('settings.activeModel')} value={value} onChange={setChosen} />
        </div>
        <Button kind='primary' type='submit' isBusy={configure.isPending}>{say('settings.save')}</Button>
        <ModelTest model={value} />
      </form>
      {configure.error !== null && <Failed error={configure.error} />}
      {configure.data !== undefined && (
        <p role='status' className='note'>{say('settings.saved')} {configure.data.warning}</p>
      )}
      <ListErrors />
    </section>
  )
}

/** A button for one small test call of a model and one for a longer examination, with their results. */
function ModelTest ({ model }: { model: string }) {
  const test = useModelTest()
  const result = test.data
  const isExamining = test.isPending && test.variables.thorough === true
  return (
    <>
      <Button isBusy={test.isPending} onClick={() => test.mutate({ model })}>
        {say(test.isPending && !isExamining ? 'settings.testing' : 'settings.test')}
      </Button>
      <Button isBusy={test.isPending} onClick={() => test.mutate({ model, thorough: true })}>
        {say(isExamining ? 'settings.examining' : 'settings.examine')}
      </Button>
      <div role='status' className='model-test'>
        {test.error !== null && <Failed error={test.error} />}
        {result !== undefined && (
          <p className={`note note-${result.ok ? 'good' : 'bad'}`}>
            {result.ok
              ? say('settings.testOk', { model: result.model, time: sayDuration(result.latencyMs) })
              : say('settings.testFailed', { model: result.model, error: plainWords(result.error ?? '') })}
          </p>
        )}
        {result?.findings?.map(({ about, ok, text }) => <p key={about} className={`note note-${ok ? 'good' : 'bad'}`}>{text}</p>)}
      </div>
    </>
  )
}
