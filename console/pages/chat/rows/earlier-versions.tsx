import { useMutation, useQueryClient } from '@tanstack/react-query'
import { ChevronLeft, ChevronRight } from 'lucide-react'
import { useState } from 'react'
import { restoreVersion } from '../../../../client/generated/index.ts'
import { keys } from '../../../lib/queries.ts'
import { say } from '../../../lib/say.ts'
import { asked } from '../../../lib/service.ts'
import { useAnnounce } from '../../../parts/announcer.tsx'
import { Button } from '../../../parts/button.tsx'
import { Failed } from '../../../parts/failed.tsx'
import { IconButton } from '../../../parts/icon-button.tsx'
import { Loading } from '../../../parts/loading.tsx'
import { Markdown } from '../../../parts/markdown/markdown.tsx'
import { Time } from '../../../parts/time.tsx'
import { VisibleText } from '../../../parts/visible-text.tsx'
import { useVersions, useVersionTexts, type Version } from '../thread/versions.ts'

/** The number of texts that are shown of a version. The conversation shows all of them after going back to it. */
const SHOWN = 20

interface Props {
  threadId: string
  messageId: string
  /** True if the conversation can go back now: no run is active and no item waits. */
  canGoBack: boolean
}

/**
 * The versions of a message that was edited or answered again, as pages ‹1/2›; the last page is the current version. Renders nothing
 * without an earlier version.
 */
export function EarlierVersions ({ threadId, messageId, canGoBack }: Props) {
  const versions = useVersions(threadId, messageId)
  const [shown, setShown] = useState<string>()
  if (versions.length === 0) return null
  const count = versions.length + 1
  const found = versions.findIndex(({ id }) => id === shown)
  const at = found === -1 ? versions.length : found
  const turn = (to: number) => setShown(versions[to]?.id)
  return (
    <>
      <div className='version-pages' role='group' aria-label={say('chat.versions', { count: versions.length })}>
        <IconButton icon={ChevronLeft} label={say('chat.versionBefore')} disabled={at === 0} onClick={() => turn(at - 1)} />
        <span aria-live='polite' aria-label={say('chat.versionOf', { number: at + 1, count })}>{at + 1}/{count}</span>
        <IconButton icon={ChevronRight} label={say('chat.versionAfter')} disabled={at === versions.length} onClick={() => turn(at + 1)} />
      </div>
      {found !== -1 && (
        <section className='version' aria-label={say('chat.versionOf', { number: at + 1, count })}>
          <VersionView threadId={threadId} version={versions[at]} canGoBack={canGoBack} onBack={() => setShown(undefined)} />
        </section>
      )}
    </>
  )
}

/** One version with everything that followed it, and a button that goes back to it. */
function VersionView ({ threadId, version, canGoBack, onBack }: {
  threadId: string
  version: Version
  canGoBack: boolean
  onBack: () => void
}) {
  const queries = useQueryClient()
  const announce = useAnnounce()
  const { data: texts, error } = useVersionTexts(threadId, version.id)
  const goBack = useMutation({
    mutationFn: () => restoreVersion({ ...asked(), path: { id: threadId, versionId: version.id } }),
    async onSuccess () {
      await queries.invalidateQueries({ queryKey: keys.thread(threadId) })
      announce(say('chat.versionRestored'))
      onBack()
    }
  })
  return (
    <>
      <p className='quiet'>{say('chat.versionReplaced')} <Time at={version.replacedAt} /></p>
      <div className='version-texts'>
        {error !== null && <Failed error={error} />}
        {texts === undefined && error === null && <Loading />}
        {texts?.slice(0, SHOWN).map(({ role, text }, at) =>
          role === 'user'
            ? <p key={at} className='said row-text'><VisibleText text={text} /></p>
            : <Markdown key={at} text={text} />)}
        {texts?.length === 1 && <p className='quiet'>{say('chat.noAnswer')}</p>}
        {texts !== undefined && texts.length > SHOWN && <p className='quiet'>{say('chat.versionMore', { count: texts.length - SHOWN })}</p>}
      </div>
      <div className='actions'>
        <Button disabled={!canGoBack} isBusy={goBack.isPending} onClick={() => goBack.mutate()}>
          {say('chat.versionBack')}
        </Button>
        <span className='quiet'>{say('chat.versionBackHelp')}</span>
      </div>
      {goBack.isError && <Failed error={goBack.error} />}
    </>
  )
}
