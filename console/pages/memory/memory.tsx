import { useQuery } from '@tanstack/react-query'
import { type FormEvent, useDeferredValue, useState } from 'react'
import { getBrain, type KnownFact } from '../../../client/generated/index.ts'
import { useDraft } from '../../lib/draft.ts'
import { keys } from '../../lib/queries.ts'
import { say } from '../../lib/say.ts'
import { asked, body } from '../../lib/service.ts'
import { Button } from '../../parts/button.tsx'
import { Confirm } from '../../parts/confirm.tsx'
import { Failed } from '../../parts/failed.tsx'
import { Page } from '../../parts/page.tsx'
import { Tabs } from '../../parts/tabs.tsx'
import { FactList } from './fact-list.tsx'
import { useClear, useFacts, useLearn } from './facts.ts'
import './memory.css'

type View = KnownFact['kind'] | 'replaced'
const VIEWS = {
  fact: 'memory.facts',
  preference: 'memory.preferences',
  instruction: 'memory.instructions',
  pattern: 'memory.patterns',
  replaced: 'memory.replaced'
} as const

const brainQuery = { queryKey: [...keys.brain(), 'preview'], queryFn: () => getBrain(asked()).then(body) }

/** The memory page: proposals, known entries by kind, hidden entries, and the text that models are told. */
export default function Memory () {
  const [view, setView] = useState<View>('fact')
  const [words, setWords] = useState('')
  const q = useDeferredValue(words.trim())
  const clear = useClear()
  const hasAny = useHasAny()
  const filter = { ...view === 'replaced' ? { state: view } as const : { state: 'known', kind: view } as const, ...q !== '' && { q } }
  const empty = q !== '' ? say('memory.nothingFound', { words: q }) : say(view === 'fact' ? 'memory.empty' : 'memory.emptyKind')
  return (
    <Page
      title={say('memory.title')}
      actions={hasAny && (
        <Confirm
          kind='danger'
          label={say('memory.clear')}
          title={say('memory.clearTitle')}
          text={say('memory.clearText')}
          onConfirm={() => clear.mutateAsync(undefined)}
        />
      )}
    >
      <p className='quiet'>{say('memory.intro')}</p>
      <Proposals />
      <section className='section'>
        <div className='memory-head'>
          <Tabs label={say('memory.kinds')} value={view} onChange={setView} tabs={VIEWS} />
          <label className='field memory-search'>
            <span className='visually-hidden'>{say('memory.search')}</span>
            <input
              type='search'
              maxLength={200}
              value={words}
              placeholder={say('memory.searchHint')}
              onChange={(event) => setWords(event.target.value)}
            />
          </label>
        </div>
        <FactList filter={filter} empty={empty} />
      </section>
      <section className='section'><h2>{say('memory.add')}</h2><AddFact /></section>
      <Preview />
    </Page>
  )
}

/** Returns true if the memory has anything that can be erased. */
function useHasAny (): boolean {
  const { data } = useQuery(brainQuery)
  const rest = [useFacts({ state: 'proposed' }), useFacts({ state: 'replaced' }), useFacts({ state: 'known', kind: 'instruction' })]
  const { facts = [], patterns = [], preferences = {} } = data?.brain ?? {}
  return facts.length + patterns.length + Object.keys(preferences).length > 0 ||
    rest.some((list) => list.data?.pages.some((page) => page.facts.length > 0))
}

/** Entries that wait to be accepted; absent if there are none. */
function Proposals () {
  const count = useFacts({ state: 'proposed' }).data?.pages.reduce((sum, page) => sum + page.facts.length, 0) ?? 0
  if (count === 0) return null
  return (
    <section className='section'>
      <h2>{say('memory.proposed', { count })}</h2>
      <p className='quiet'>{say('memory.proposedHelp')}</p>
      <FactList filter={{ state: 'proposed' }} empty='' />
    </section>
  )
}

function Preview () {
  const { data } = useQuery(brainQuery)
  return (
    <details className='preview'>
      <summary>{say('memory.preview')}</summary>
      <pre>{data?.contextPreview || say('memory.previewEmpty')}</pre>
    </details>
  )
}

/** The form that adds a fact. The typed text is kept until the fact is stored. */
function AddFact () {
  const [text, setText] = useDraft('fact')
  const learn = useLearn()
  const submit = (event: FormEvent) => {
    event.preventDefault()
    learn.mutate(text, { onSuccess: () => setText('') })
  }
  return (
    <form className='section' onSubmit={submit}>
      <label className='field'>
        <span>{say('memory.addLabel')}</span>
        <input
          required
          maxLength={2_000}
          value={text}
          placeholder={say('memory.addHint')}
          onChange={(event) => setText(event.target.value)}
        />
      </label>
      {learn.error !== null && <Failed error={learn.error} />}
      <div><Button kind='primary' type='submit' isBusy={learn.isPending}>{say('memory.addSubmit')}</Button></div>
    </form>
  )
}
