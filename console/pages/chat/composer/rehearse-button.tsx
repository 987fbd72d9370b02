import { useMutation } from '@tanstack/react-query'
import type { FileUIPart } from 'ai'
import { useLocation } from 'wouter'
import { openStream, parse, readEvents } from '../../../../client/sse.ts'
import { newId } from '../../../lib/new-id.ts'
import { say } from '../../../lib/say.ts'
import { agent } from '../../../lib/service.ts'
import { Button } from '../../../parts/button.tsx'
import { Failed } from '../../../parts/failed.tsx'
import { type Chosen, chosenPart, withoutChosen } from '../thread/chosen.ts'
import type { ModelChoice } from './use-model-choice.ts'

interface Props {
  chatId: string
  text: string
  sending: { files: FileUIPart[], chosen: Chosen[] }
  choice: ModelChoice
}

/**
 * Rehearses what is typed, with its files and what was chosen for it, and leads to the rehearsal. What is typed stays, so that it can be
 * sent for good.
 */
export function RehearseButton ({ chatId, text, sending: { files, chosen }, choice }: Props) {
  const [, navigate] = useLocation()
  const rehearse = useMutation({
    async mutationFn () {
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
    },
    onSuccess: (runId) => navigate(`/runs/${encodeURIComponent(runId)}`)
  })
  return (
    <>
      {rehearse.isError && <Failed error={rehearse.error} />}
      <Button
        kind='quiet' title={say('chat.rehearseHelp')} disabled={text.trim() === ''} isBusy={rehearse.isPending}
        onClick={() => rehearse.mutate()}
      >
        {say('chat.rehearse')}
      </Button>
    </>
  )
}
