import { useMutation, useQuery } from '@tanstack/react-query'
import { FolderPlus } from 'lucide-react'
import { useState } from 'react'
import { patchConfig } from '../../../../client/generated/index.ts'
import { keys, queries } from '../../../lib/queries.ts'
import { say } from '../../../lib/say.ts'
import { asked } from '../../../lib/service.ts'
import { useSession } from '../../../lib/session.ts'
import { useAnnounce } from '../../../parts/announcer.tsx'
import { Button } from '../../../parts/button.tsx'
import { Failed } from '../../../parts/failed.tsx'
import { FolderDialog } from '../../../parts/folders/folder-dialog.tsx'
import { Loaded } from '../../../parts/loaded.tsx'
import { VisibleText } from '../../../parts/visible-text.tsx'
import { configQuery } from './budget.tsx'

/**
 * The folders that file tools are allowed to use in addition to those of conversations and tasks. A page can change them only if the
 * service has a token.
 */
export function AgentFolders () {
  const config = useQuery(configQuery)
  const hasToken = useSession().token !== undefined
  return (
    <section className='section' aria-label={say('settings.roots')}>
      <h2>{say('settings.roots')}</h2>
      <p className='quiet'>{say('settings.rootsText')}</p>
      <Loaded query={config}>{({ roots = [] }) => <Folders roots={roots} canChange={hasToken} />}</Loaded>
      {!hasToken && <p className='quiet'>{say('settings.rootsNoToken')}</p>}
    </section>
  )
}

function Folders ({ roots, canChange }: { roots: string[], canChange: boolean }) {
  const [isOpen, setIsOpen] = useState(false)
  const announce = useAnnounce()
  const saving = useMutation({
    mutationFn: (next: string[]) => patchConfig({ ...asked(), body: { roots: next } }),
    async onSuccess () {
      await queries.invalidateQueries({ queryKey: keys.config() })
      announce(say('settings.rootsSaved'))
    }
  })
  return (
    <>
      {roots.length > 0 && (
        <ul className='list looks'>
          {roots.map((path) => (
            <li key={path} className='server-head agent-folder'>
              <code><VisibleText text={path} limit={500} /></code>
              {canChange && (
                <Button
                  kind='quiet' aria-label={say('settings.rootsRemoveOne', { path })} isBusy={saving.isPending}
                  onClick={() => saving.mutate(roots.filter((each) => each !== path))}
                >
                  {say('settings.rootsRemove')}
                </Button>
              )}
            </li>
          ))}
        </ul>
      )}
      {canChange && (
        <div className='actions'>
          <Button isBusy={saving.isPending} onClick={() => setIsOpen(true)}><FolderPlus /> {say('settings.rootsAdd')}</Button>
        </div>
      )}
      {saving.isError && <Failed error={saving.error} />}
      <FolderDialog
        title={say('settings.rootsAddTitle')} isOpen={isOpen} start='' onClose={() => setIsOpen(false)}
        onChosen={(path) => { if (!roots.includes(path)) saving.mutate([...roots, path]) }}
      />
    </>
  )
}
