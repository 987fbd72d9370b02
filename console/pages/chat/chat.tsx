import { useQuery } from '@tanstack/react-query'
import { PanelLeft } from 'lucide-react'
import { useEffect, useMemo, useState } from 'react'
import { useLocation, useSearch } from 'wouter'
import { newId } from '../../lib/new-id.ts'
import { say } from '../../lib/say.ts'
import { Empty } from '../../parts/empty.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { Page } from '../../parts/page.tsx'
import { Button } from '../../parts/button.tsx'
import { IconButton } from '../../parts/icon-button.tsx'
import { ConversationView } from './conversation-view.tsx'
import { foundIn, type FoundMessage } from './thread/found-message.ts'
import { NEW_PAGE, threadPage } from './thread/thread-page.ts'
import { ThreadActions } from './thread-actions.tsx'
import { ThreadList } from './threads/thread-list.tsx'
import './chat.css'

/** The list of conversations, and the conversation with the id; without an id, a new one. */
export default function Chat ({ id }: { id?: string }) {
  const [ownId, setOwnId] = useState(newId)
  const [isListOpen, setIsListOpen] = useState(false)
  const [, navigate] = useLocation()
  const [opened, setOpened] = useState(0)
  // When the page goes from a conversation to none, a new conversation begins.
  const [before, setBefore] = useState(id)
  if (before !== id) {
    setBefore(id)
    if (id === undefined) setOwnId(newId())
  }
  const query = useSearch()
  // `opened` is a dependency so that a search result that is opened again is also shown again.
  const found = useMemo(() => foundIn(query), [query, opened])
  const begin = () => {
    setOwnId(newId())
    setIsListOpen(false)
    navigate('/chat')
  }
  const shown = id ?? ownId
  return (
    <div className='chat' data-list={isListOpen || undefined}>
      <aside className='chat-threads' id='conversations' aria-label={say('chat.conversations')}>
        <ThreadList
          current={id}
          onOpen={() => {
            setIsListOpen(false)
            setOpened(opened + 1)
          }}
          onNew={begin} onDeleted={begin} onRestored={(restored) => navigate(`/chat/${encodeURIComponent(restored)}`)}
        />
      </aside>
      <div className='chat-main'>
        <IconButton
          icon={PanelLeft} label={say('chat.conversations')} className='button button-quiet button-icon chat-list-toggle'
          aria-expanded={isListOpen} aria-controls='conversations' onClick={() => setIsListOpen(!isListOpen)}
        />
        <StoredConversation
          key={shown} id={shown} isNew={id === undefined} found={found} onNew={begin}
          onBegun={() => { if (id === undefined) navigate(`/chat/${encodeURIComponent(shown)}`) }}
        />
      </div>
    </div>
  )
}

interface Props {
  id: string
  isNew: boolean
  /** The message at which the conversation opens. */
  found?: FoundMessage
  /** Called when the service has the first message. */
  onBegun: () => void
  onNew: () => void
}

function StoredConversation ({ id, isNew, found, onBegun, onNew }: Props) {
  const query = useQuery({ ...threadPage(id), enabled: !isNew, ...isNew && { initialData: NEW_PAGE } })
  const [wasStored, setWasStored] = useState(false)
  const isStored = query.data?.isNew === false
  useEffect(() => {
    if (isStored) setWasStored(true)
    if (isStored && isNew) onBegun()
  }, [isStored, isNew, onBegun])
  if (wasStored && query.data?.isNew === true) {
    return (
      <Page title={say('chat.deleted')}>
        <Empty text={say('chat.deletedText')}><Button kind='primary' onClick={onNew}>{say('chat.new')}</Button></Empty>
      </Page>
    )
  }
  return (
    <Page title={query.data?.title || say('chat.new')} actions={isStored && <ThreadActions id={id} title={query.data!.title} />}>
      <Loaded query={query}>{(page) => <ConversationView id={id} page={page} found={found} onBegun={onBegun} />}</Loaded>
    </Page>
  )
}
