import { useAgents } from '../lib/agents.ts'
import { say } from '../lib/say.ts'

/** A select box with the agents. The chosen agent stays in the list even if it no longer exists. */
export function AgentSelect ({ value, onChange }: { value: string, onChange: (name: string) => void }) {
  const agents = useAgents().data?.agents ?? []
  return (
    <select value={value} onChange={(event) => onChange(event.target.value)}>
      <option value=''>{say('chat.noAgent')}</option>
      {agents.every(({ name }) => name !== value) && value !== '' && <option value={value}>{value}</option>}
      {agents.map(({ name, description }) => <option key={name} value={name} title={description}>{name}</option>)}
    </select>
  )
}
