import { useAgents } from '../../../lib/agents.ts'
import { EFFORTS } from '../../../lib/efforts.ts'
import { say } from '../../../lib/say.ts'
import { AgentSelect } from '../../../parts/agent-select.tsx'
import { ModelPicker } from '../../../parts/models/model-picker.tsx'
import { useProviders } from '../../../parts/models/model-queries.ts'
import { modelName } from '../../../parts/models/provider-name.ts'
import { FolderChoice } from './folder-choice.tsx'
import { ToolSwitches } from './tool-switches.tsx'
import type { ModelChoice } from './use-model-choice.ts'

/** Chooses the agent, model, effort, folder and tools of a conversation. Agents and tools are shown only if there are any. */
export function ModelFields ({ choice: { agent, model, effort, cwd, denied, change } }: { choice: ModelChoice }) {
  const providers = useProviders()
  const agents = useAgents().data?.agents ?? []
  const ofAgent = agents.find(({ name }) => name === agent)?.options.model
  const usual = ofAgent ?? providers.data?.active_model ?? '…'
  return (
    <>
      {(agents.length > 0 || agent !== '') && (
        <label className='composer-choice'>
          <span className='visually-hidden'>{say('chat.agentChoice')}</span>
          <AgentSelect value={agent} onChange={(name) => change({ agent: name })} />
        </label>
      )}
      <div className='composer-choice'>
        <ModelPicker
          label={say('chat.model')} value={model} usual={say('chat.modelUsual', { name: modelName(usual) })}
          onChange={(next) => change({ model: next })}
        />
      </div>
      <label className='composer-choice'>
        <span className='visually-hidden'>{say('chat.effort')}</span>
        <select value={effort} onChange={(event) => change({ effort: event.target.value })}>
          <option value=''>{say('chat.effortDefault')}</option>
          {EFFORTS.map((each) => <option key={each} value={each}>{say(`chat.efforts.${each}`)}</option>)}
        </select>
      </label>
      <FolderChoice cwd={cwd} onChange={(next) => change({ cwd: next })} />
      <ToolSwitches denied={denied} onChange={(next) => change({ denied: next })} />
    </>
  )
}
