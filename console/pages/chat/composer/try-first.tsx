import { useMutation } from '@tanstack/react-query'
import { useLocation } from 'wouter'
import { openStream, parse, readEvents } from '../../../../client/sse.ts'
import { useDraft } from '../../../lib/draft.ts'
import { newId } from '../../../lib/new-id.ts'
import { say } from '../../../lib/say.ts'
import { agent } from '../../../lib/service.ts'
import { chosenPart, type Sending, withoutChosen } from '../thread/chosen.ts'
import type { ModelChoice } from './use-model-choice.ts'

/** How a message is sent: its calls ask, its run works on a copy of the folder, or the run is a rehearsal. */
const WAYS = ['ask', 'copy', 'rehearse'] as const
type Way = typeof WAYS[number]

/**
 * The way in which the next message is sent. `copy` applies to the whole conversation. `rehearse` applies to one message, which stays in
 * the field so that it can be sent afterwards.
 */
export function useWay (chatId: string, choice: ModelChoice) {
  const [next, setNext] = useDraft(`way ${chatId}`)
  const [, navigate] = useLocation()
  const rehearsal = useMutation({
    mutationFn: (sending: Sending & { text: string }) => rehearse(chatId, sending, choice),
    onSuccess (runId) {
      setNext('')
      navigate(`/runs/${encodeURIComponent(runId)}`)
    }
  })
  const way: Way = next === 'rehearse' ? 'rehearse' : choice.workspace === 'copy' ? 'copy' : 'ask'
  function setWay (to: Way): void {
    rehearsal.reset()
    setNext(to === 'rehearse' ? to : '')
    const workspace = to === 'copy' ? 'copy' : ''
    if (to !== 'rehearse' && workspace !== choice.workspace) choice.change({ workspace })
  }
  return { way, setWay, rehearsal }
}

/** Starts a rehearsal of a message, with its files and chosen prompts. Resolves to the id of the run. */
async function rehearse (chatId: string, { text, files, chosen }: Sending & { text: string }, choice: ModelChoice): Promise<string> {
  const parts = [...chosen.map(chosenPart), { type: 'text' as const, text }, ...files]
  const { message, request } = withoutChosen({ id: newId(), role: 'user', parts })
  const folder = choice.cwd !== '' && { cwd: choice.cwd }
  const stream = await openStream(agent().client, {
    method: 'POST',
    url: '/run',
    body: { id: chatId, message, ...request, dryRun: true, resumable: true, options: choice.options, ...folder },
    headers: { 'content-type': 'application/json' }
  })
  for await (const { data } of readEvents(stream!)) {
    const event = data === undefined ? undefined : parse<{ type: string, messageMetadata?: { runId: string } }>(data)
    if (event?.type === 'start') return event.messageMetadata!.runId
  }
  throw new Error(say('chat.failed'))
}

/** The menu for the way in which the next message is sent. */
export function TryFirst ({ way, onChoose }: { way: Way, onChoose: (way: Way) => void }) {
  return (
    <label className='composer-choice composer-way' data-way={way} title={say(`chat.way.help.${way}`)}>
      <span className='visually-hidden'>{say('chat.way.title')}</span>
      <select value={way} onChange={({ target }) => onChoose(target.value as Way)}>
        {WAYS.map((each) => <option key={each} value={each}>{say(`chat.way.${each}`)}</option>)}
      </select>
    </label>
  )
}
