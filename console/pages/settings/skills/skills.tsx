import { useState, type FormEvent } from 'react'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { acceptSkill, listSkills, type Skill } from '../../../../client/generated/index.ts'
import { useDraft } from '../../../lib/draft.ts'
import { keys } from '../../../lib/queries.ts'
import { say } from '../../../lib/say.ts'
import { asked, body } from '../../../lib/service.ts'
import { useAnnounce } from '../../../parts/announcer.tsx'
import { Button } from '../../../parts/button.tsx'
import { Empty } from '../../../parts/empty.tsx'
import { Failed } from '../../../parts/failed.tsx'
import { FolderField } from '../../../parts/folders/folder-field.tsx'
import { Loaded } from '../../../parts/loaded.tsx'
import { ServiceText } from '../../../parts/service-text.tsx'
import { Status } from '../../../parts/status.tsx'
import { VisibleText } from '../../../parts/visible-text.tsx'

/** The maximum number of changed files that are named. */
const MOST_NAMED = 8

/** The skills for work in a folder, and whether their files have changed since the agent read them. */
export function Skills () {
  const [folder, setFolder] = useDraft('skills folder')
  const [shown, setShown] = useState(folder.trim())
  const skills = useQuery({
    queryKey: [...keys.skills(), shown],
    queryFn: () => listSkills({ ...asked(), query: shown === '' ? {} : { cwd: shown } }).then(body),
    // Files of skills change without an event.
    staleTime: 0
  })
  const look = (event: FormEvent) => {
    event.preventDefault()
    if (folder.trim() === shown) void skills.refetch()
    else setShown(folder.trim())
  }
  return (
    <>
      <p className='quiet'>{say('settings.skillsHelp')}</p>
      <form className='inline-form' onSubmit={look}>
        <FolderField label={say('settings.skillsFolder')} value={folder} placeholder={skills.data?.cwd} onChange={setFolder} />
        <Button type='submit' isBusy={skills.isFetching}>{say('settings.skillsLook')}</Button>
      </form>
      <Loaded query={skills}>
        {({ cwd, skills }) => skills.length === 0
          ? <Empty text={say('settings.noSkills')} />
          : <ul className='list'>{skills.map((skill) => <SkillItem key={skill.path} skill={skill} cwd={cwd} />)}</ul>}
      </Loaded>
    </>
  )
}

function SkillItem ({ skill, cwd }: { skill: Skill, cwd: string }) {
  const { name, description, path, source, state, reason, changed = [], allowedTools, unread, leadOut, forUser, digest } = skill
  const announce = useAnnounce()
  const queries = useQueryClient()
  const accept = useMutation({
    mutationFn: (digest: string) => acceptSkill({ ...asked(), body: { name, cwd, digest } }).then(body),
    onSuccess: () => announce(say('settings.skillAccepted', { name })),
    // If the acceptance fails, the skill is shown in its current state.
    onSettled: () => queries.invalidateQueries({ queryKey: keys.skills() })
  })
  const more = changed.length - MOST_NAMED
  return (
    <li className='server'>
      <div className='server-head'>
        <p>
          <span className='server-name'><VisibleText text={name} /></span>{' '}
          <Status value={`skill_${state}`} />
        </p>
        {digest !== undefined && (state === 'changed' || (state === 'new' && source === 'folder')) && (
          <div className='actions'>
            <Button isBusy={accept.isPending} onClick={() => accept.mutate(digest)}>
              {say(state === 'changed' ? 'settings.skillAcceptChange' : 'settings.skillAccept')}
            </Button>
          </div>
        )}
      </div>
      {description !== undefined && <p><VisibleText text={description} limit={500} /></p>}
      {reason !== undefined && <p><ServiceText text={reason} /></p>}
      {state === 'new' && source === 'folder' && <p className='quiet'>{say('settings.skillNew')}</p>}
      {changed.length > 0 && (
        <p>
          {say('settings.skillChanged')} <VisibleText text={changed.slice(0, MOST_NAMED).join(', ')} />
          {more > 0 && say('settings.skillMore', { count: more })}
        </p>
      )}
      {forUser && <p className='quiet'>{say('settings.skillForUser')}</p>}
      {allowedTools !== undefined && <p className='quiet'>{say('settings.skillTools')} <VisibleText text={allowedTools.join(', ')} /></p>}
      {unread !== undefined && <p>{say('settings.skillUnread')} <VisibleText text={unread.join(', ')} /></p>}
      {leadOut !== undefined && <p>{say('settings.skillLeadOut')} <VisibleText text={leadOut.join(', ')} /></p>}
      <p className='mono quiet'><VisibleText text={path} /></p>
      {accept.error !== null && <Failed error={accept.error} />}
    </li>
  )
}
