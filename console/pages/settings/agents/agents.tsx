import { useState } from 'react'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { AgentError } from '../../../../client/errors.ts'
import { deleteAgent, type NamedAgent } from '../../../../client/generated/index.ts'
import { useAgents } from '../../../lib/agents.ts'
import { keys } from '../../../lib/queries.ts'
import { say } from '../../../lib/say.ts'
import { asked } from '../../../lib/service.ts'
import { useAnnounce } from '../../../parts/announcer.tsx'
import { Button } from '../../../parts/button.tsx'
import { Confirm } from '../../../parts/confirm.tsx'
import { Dialog } from '../../../parts/dialog.tsx'
import { Empty } from '../../../parts/empty.tsx'
import { Loaded } from '../../../parts/loaded.tsx'
import { AgentForm } from './agent-form.tsx'

/** The agents: named sets of options, which conversations and tasks can use. */
export function Agents () {
  const agents = useAgents()
  const [isNew, setIsNew] = useState(false)
  return (
    <>
      <Loaded query={agents}>
        {({ agents }) => agents.length === 0
          ? <Empty text={say('settings.noAgents')} />
          : <ul className='list'>{agents.map((agent) => <AgentItem key={agent.name} agent={agent} />)}</ul>}
      </Loaded>
      <div><Button kind='primary' onClick={() => setIsNew(true)}>{say('settings.addAgent')}</Button></div>
      <Dialog title={say('settings.addAgent')} isOpen={isNew} onClose={() => setIsNew(false)}>
        <AgentForm onSaved={() => setIsNew(false)} />
      </Dialog>
    </>
  )
}

function AgentItem ({ agent }: { agent: NamedAgent }) {
  const { name, description, options: { model, instructions } } = agent
  const [isEdited, setIsEdited] = useState(false)
  const announce = useAnnounce()
  const queries = useQueryClient()
  const remove = useMutation({
    mutationFn: () => deleteAgent({ ...asked(), path: { name } }).catch(withUsers),
    async onSuccess () {
      announce(say('settings.agentDeleted', { name }))
      await queries.invalidateQueries({ queryKey: keys.agents() })
    }
  })
  return (
    <li className='server'>
      <div className='server-head'>
        <p><span className='server-name'>{name}</span>{model !== undefined && <span className='quiet'> · {model}</span>}</p>
        <div className='actions'>
          <Button onClick={() => setIsEdited(true)}>{say('settings.agentEdit')}</Button>
          <Confirm
            kind='quiet'
            label={say('settings.agentDelete')}
            title={say('settings.agentDeleteTitle', { name })}
            text={say('settings.agentDeleteText')}
            onConfirm={() => remove.mutateAsync()}
          />
        </div>
      </div>
      {(description || instructions) && <p className='quiet agent-about'>{description || instructions}</p>}
      <Dialog title={say('settings.agentEditTitle', { name })} isOpen={isEdited} onClose={() => setIsEdited(false)}>
        <AgentForm agent={agent} onSaved={() => setIsEdited(false)} />
      </Dialog>
    </li>
  )
}

/** Rethrows the refusal of a deletion, with the conversations and tasks that use the agent. */
function withUsers (error: unknown): never {
  if (!(error instanceof AgentError) || error.details === undefined) throw error
  throw new Error([error.message, ...error.details.map(({ message }) => `${message}.`)].join(' '))
}
