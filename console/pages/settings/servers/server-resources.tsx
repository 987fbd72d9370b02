import { useState } from 'react'
import { useQuery } from '@tanstack/react-query'
import { listResources, readResource, type Resource, type ResourceEntry } from '../../../../client/generated/index.ts'
import { keys } from '../../../lib/queries.ts'
import { say } from '../../../lib/say.ts'
import { asked, body } from '../../../lib/service.ts'
import { Button } from '../../../parts/button.tsx'
import { Images } from '../../../parts/call/images.tsx'
import { Dialog } from '../../../parts/dialog.tsx'
import { Loaded } from '../../../parts/loaded.tsx'
import { VisibleText } from '../../../parts/visible-text.tsx'

/** The number of resources that are listed until the user asks for all. */
const SHOWN = 20
const LONGEST = 300

/** The resources of a tool server and its templates for further addresses. Renders nothing for a server without either. */
export function ServerResources ({ server }: { server: string }) {
  const list = useQuery({
    queryKey: [...keys.servers(), server, 'resources'],
    queryFn: () => listResources({ ...asked(), query: { server } }).then(body)
  })
  const [isWhole, setIsWhole] = useState(false)
  const [read, setRead] = useState<ResourceEntry>()
  const { resources = [], templates = [], cut = [] } = list.data ?? {}
  if (resources.length === 0 && templates.length === 0) return null
  return (
    <section className='section'>
      <h3>{say('settings.resources')}</h3>
      <ul className='tool-list' tabIndex={0} aria-label={say('settings.resources')}>
        {(isWhole ? resources : resources.slice(0, SHOWN)).map((entry) => (
          <li key={entry.uri} className='server-head'>
            <div>
              <p><VisibleText text={entry.title ?? entry.name} limit={LONGEST} /></p>
              {entry.description !== undefined && <p className='quiet'><VisibleText text={entry.description} limit={LONGEST} /></p>}
              <p className='mono quiet'><VisibleText text={entry.uri} limit={LONGEST} /></p>
            </div>
            <Button
              kind='quiet'
              aria-label={say('settings.resourceShow', { name: entry.title ?? entry.name })}
              onClick={() => setRead(entry)}
            >
              {say('settings.show')}
            </Button>
          </li>
        ))}
        {templates.map(({ uriTemplate, name, title }) => (
          <li key={uriTemplate}>
            <p><VisibleText text={title ?? name} limit={LONGEST} /> <span className='quiet'>{say('settings.resourceTemplate')}</span></p>
            <p className='mono quiet'><VisibleText text={uriTemplate} limit={LONGEST} /></p>
          </li>
        ))}
      </ul>
      {resources.length > SHOWN && !isWhole && (
        <div><Button onClick={() => setIsWhole(true)}>{say('settings.resourcesAll', { count: resources.length })}</Button></div>
      )}
      {cut.length > 0 && <p className='quiet'>{say('settings.resourcesCut')}</p>}
      <Dialog title={read?.title ?? read?.name ?? ''} isOpen={read !== undefined} onClose={() => setRead(undefined)}>
        {read !== undefined && <Contents entry={read} />}
      </Dialog>
    </section>
  )
}

function Contents ({ entry: { server, uri } }: { entry: ResourceEntry }) {
  const resource = useQuery({
    queryKey: [...keys.servers(), server, 'resources', uri],
    queryFn: () => readResource({ ...asked(), query: { server, uri } }).then(body),
    staleTime: 0
  })
  return <Loaded query={resource}>{({ contents }) => contents.map((part, at) => <Content key={at} part={part} />)}</Loaded>
}

function Content ({ part: { text, blob, mimeType = '', size, isCut } }: { part: Resource['contents'][number] }) {
  if (text !== undefined) {
    return (
      <>
        <pre className='preview-text' tabIndex={0}><VisibleText text={text} /></pre>
        {isCut && <p className='quiet'>{say('settings.resourceCut')}</p>}
      </>
    )
  }
  if (blob !== undefined && /^image\/(png|jpeg|gif|webp)$/.test(mimeType)) return <Images images={[{ mimeType, data: blob }]} />
  return <p className='quiet'>{say('settings.resourceBytes', { type: mimeType, count: size })}</p>
}
