import { useMutation } from '@tanstack/react-query'
import { GitBranch } from 'lucide-react'
import { useLocation } from 'wouter'
import { putThread } from '../../../../client/generated/index.ts'
import { newId } from '../../../lib/new-id.ts'
import { queries } from '../../../lib/queries.ts'
import { say } from '../../../lib/say.ts'
import { asked, body } from '../../../lib/service.ts'
import { useAnnounce } from '../../../parts/announcer.tsx'
import { IconButton } from '../../../parts/icon-button.tsx'
import { allMessages, threadPage } from '../thread/thread-page.ts'

/** Copies the conversation up to a message into a new one, which works in the folder itself. Returns the id of the new conversation. */
async function branchThread (id: string, messageId: string): Promise<string> {
  const page = await queries.fetchQuery({ ...threadPage(id), staleTime: 0 })
  const messages = await allMessages(id, page)
  const end = messages.findIndex((message) => message.id === messageId) + 1
  const { options: { workspace: _, ...options } = {}, ...settings } = page.settings ?? {}
  const branch = newId()
  // The run ids are left out: runs stay with their conversation, where their changes can be undone.
  const copied = messages.slice(0, end).map(({ id, role, parts }) => ({ id, role, parts }))
  await putThread({
    ...asked(),
    path: { id: branch },
    body: { title: say('chat.branchOf', { title: page.title }), settings: { ...settings, options }, messages: copied }
  }).then(body)
  return branch
}

/** A button that continues from a message in a new conversation. The old conversation stays unchanged. */
export function BranchButton ({ threadId, messageId, className }: { threadId: string, messageId: string, className: string }) {
  const [, navigate] = useLocation()
  const announce = useAnnounce()
  const branching = useMutation({
    mutationFn: () => branchThread(threadId, messageId),
    onSuccess (id) {
      navigate(`/chat/${encodeURIComponent(id)}`)
      announce(say('chat.branched'))
    },
    onError: () => announce(say('app.failed'))
  })
  return (
    <IconButton
      icon={GitBranch} label={say('chat.branch')} words={say('chat.branchShort')} className={className} isBusy={branching.isPending}
      onClick={() => branching.mutate()}
    />
  )
}
