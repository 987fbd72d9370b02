import { useQuery } from '@tanstack/react-query'
import { listModels, listProviders } from '../../../../client/generated/index.ts'
import { useAgents } from '../../../lib/agents.ts'
import { EFFORTS } from '../../../lib/efforts.ts'
import { keys } from '../../../lib/queries.ts'
import { say } from '../../../lib/say.ts'
import { asked, body } from '../../../lib/service.ts'
import { AgentSelect } from '../../../parts/agent-select.tsx'
import { modelName } from '../../../parts/models/provider-name.ts'
import { FolderChoice } from './folder-choice.tsx'
import { ToolSwitches } from './tool-switches.tsx'
import type { ModelChoice } from './use-model-choice.ts'

/** Longer lists are searched by typing in place of a menu. */
const LONGEST_MENU = 150

/** Chooses agent, model, effort, folder and tools of a conversation. Agents and tools are a choice once there are some. */
export function ModelFields ({ choice: { agent, model, effort, cwd, denied, workspace, change } }: { choice: ModelChoice }) {
  const providers = useQuery({ queryKey: keys.providers(), queryFn: () => listProviders(asked()).then(body) })
  const list = useQuery({ queryKey: keys.models(), queryFn: () => listModels(asked()).then(body) })
  const agents = useAgents().data?.agents ?? []
  const models = list.data?.models ?? []
  const ofAgent = agents.find(({ name }) => name === agent)?.options.model
  const usual = ofAgent ?? providers.data?.active_model ?? '…'
  const active = modelName(usual)
  const isKnown = model === '' || models.some(({ id }) => id === model)
  return (
    <>
      {(agents.length > 0 || agent !== '') && (
        <label className='composer-choice'>
          <span className='visually-hidden'>{say('chat.agentChoice')}</span>
          <AgentSelect value={agent} onChange={(name) => change({ agent: name })} />
        </label>
      )}
      <label className='composer-choice'>
        <span className='visually-hidden'>{say('chat.model')}</span>
        {models.length > LONGEST_MENU
          ? <ModelName key={model} model={model} placeholder={active} onChosen={(next) => change({ model: next })} />
          : (
            <select value={model} onChange={(event) => change({ model: event.target.value })}>
              <option value=''>{say('chat.modelUsual', { name: active })}</option>
              {!isKnown && <option value={model}>{modelName(model)}</option>}
              {models.map(({ id }) => (id !== usual || id === model) && <option key={id} value={id}>{modelName(id)}</option>)}
            </select>
            )}
      </label>
      <label className='composer-choice'>
        <span className='visually-hidden'>{say('chat.effort')}</span>
        <select value={effort} onChange={(event) => change({ effort: event.target.value })}>
          <option value=''>{say('chat.effortDefault')}</option>
          {EFFORTS.map((each) => <option key={each} value={each}>{say(`chat.efforts.${each}`)}</option>)}
        </select>
      </label>
      <FolderChoice cwd={cwd} onChange={(next) => change({ cwd: next })} />
      <label className='tick composer-copy' title={say('chat.onCopyHelp')}>
        <input
          type='checkbox' checked={workspace === 'copy'} title={say('chat.onCopyHelp')}
          onChange={({ target }) => change({ workspace: target.checked ? 'copy' : '' })}
        />
        <span>{say('chat.onCopy')}</span>
      </label>
      <ToolSwitches denied={denied} onChange={(next) => change({ denied: next })} />
    </>
  )
}

/** A name that is typed, and chosen when its field is left: a part of one is no model. */
function ModelName ({ model, placeholder, onChosen }: { model: string, placeholder: string, onChosen: (model: string) => void }) {
  return (
    <input
      defaultValue={model} maxLength={200} placeholder={placeholder}
      onBlur={(event) => { if (event.target.value.trim() !== model) onChosen(event.target.value.trim()) }}
    />
  )
}
