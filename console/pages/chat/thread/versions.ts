import { useQuery } from '@tanstack/react-query'
import { getVersion, listVersions, type Version } from '../../../../client/generated/index.ts'
import { keys } from '../../../lib/queries.ts'
import { asked, body } from '../../../lib/service.ts'
import { threadPage } from './thread-page.ts'

export type { Version }

const NONE: Version[] = []

/** The versions of a message from before it was edited or answered again, oldest first. The service stores them with the conversation. */
export function useVersions (threadId: string, messageId: string): Version[] {
  // A new conversation does not exist in the service yet.
  const { data: page } = useQuery({ ...threadPage(threadId), enabled: false })
  const { data = NONE } = useQuery({
    queryKey: [...keys.thread(threadId), 'versions'],
    queryFn: () => listVersions({ ...asked(), path: { id: threadId } }).then(body).then(({ versions }) => versions),
    enabled: page?.isNew === false,
    select: (versions) => versions.filter((version) => version.messageId === messageId)
  })
  return data
}

/** One text of a version: a message of the user or an answer. */
interface VersionText {
  role: string
  text: string
}

/** The texts of a version; undefined until they are read. */
export function useVersionTexts (threadId: string, versionId: string | undefined) {
  return useQuery({
    // A version never changes while it exists.
    queryKey: ['version', threadId, versionId ?? ''],
    async queryFn (): Promise<VersionText[]> {
      const path = { id: threadId, versionId: versionId! }
      const { messages } = await getVersion({ ...asked(), path, query: { protocol: 'ui' } }).then(body)
      return messages.flatMap(({ role, parts }) => {
        const texts = (parts as Array<{ type: string, text?: string }>).flatMap(({ type, text }) => type === 'text' ? text ?? '' : [])
        return texts.length === 0 ? [] : { role, text: texts.join('\n\n') }
      })
    },
    enabled: versionId !== undefined
  })
}
