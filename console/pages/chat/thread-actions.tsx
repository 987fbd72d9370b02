import { useMutation, useQuery } from '@tanstack/react-query'
import type { UIMessage } from 'ai'
import { Download, ShieldCheck } from 'lucide-react'
import { Link } from 'wouter'
import { listGrants } from '../../../client/generated/index.ts'
import { keys } from '../../lib/queries.ts'
import { saveFile } from '../../lib/save-file.ts'
import { say } from '../../lib/say.ts'
import { asked, body } from '../../lib/service.ts'
import { useAnnounce } from '../../parts/announcer.tsx'
import { commandsQuery, RunningCommands } from '../../parts/commands/running-commands.tsx'
import { IconButton } from '../../parts/icon-button.tsx'
import { textOf } from './rows/rows.ts'
import { allMessages, threadPage } from './thread/thread-page.ts'

/** Buttons that save a conversation as a text file, and that show its background commands and its grants. */
export function ThreadActions ({ id, title }: { id: string, title: string }) {
  const announce = useAnnounce()
  const { data } = useQuery(commandsQuery)
  const commands = data?.commands.filter(({ threadId }) => threadId === id) ?? []
  const { data: count = 0 } = useQuery({
    queryKey: [...keys.grants(), 'thread', id],
    queryFn: () => listGrants({ ...asked(), query: { threadId: id, limit: 500 } }).then(body).then(({ grants }) => grants.length)
  })
  const allowed = say('chat.grants', { count })
  const page = useQuery({ ...threadPage(id), enabled: false })
  const saving = useMutation({
    async mutationFn () {
      const messages = await allMessages(id, page.data!)
      saveFile(new Blob([asMarkdown(title, messages)], { type: 'text/markdown' }), `${fileNameOf(title)}.md`)
    },
    onError: () => announce(say('app.failed'))
  })
  return (
    <>
      <RunningCommands commands={commands} />
      {count > 0 && (
        <Link href='/settings/grants' className='button button-quiet' aria-label={allowed} title={allowed}><ShieldCheck /> {count}</Link>
      )}
      <IconButton icon={Download} label={say('chat.export')} isBusy={saving.isPending} onClick={() => saving.mutate()} />
    </>
  )
}

const fileNameOf = (title: string) => title.replace(/[^\p{L}\p{N}]+/gu, '-').replace(/^-|-$/g, '').slice(0, 60) || 'chat'

function asMarkdown (title: string, messages: UIMessage[]): string {
  const said = messages.map((message) => {
    const text = textOf(message)
    return text === '' ? '' : `## ${say(message.role === 'user' ? 'chat.you' : 'chat.agent')}\n\n${text}\n`
  })
  return [`# ${title}\n`, ...said.filter((text) => text !== '')].join('\n')
}
