import { useAgents } from '../lib/agents.ts'
import { say } from '../lib/say.ts'

/** The menu of agents. One that is chosen stays in it, also when there is no such agent any more. */
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
