import { Wrench } from 'lucide-react'
import { useState } from 'react'
import type { ToolServer } from '../../../../client/generated/index.ts'
import { say } from '../../../lib/say.ts'
import { useServers } from '../../../lib/servers.ts'
import { Button } from '../../../parts/button.tsx'
import { Dialog } from '../../../parts/dialog.tsx'
import { Status } from '../../../parts/status.tsx'
import { VisibleText } from '../../../parts/visible-text.tsx'

/** Returns the entry of `denyTools` for a whole server, and for one tool of it. */
const serverEntry = (server: string) => `server:${server}`
const toolEntry = (server: string, tool: string) => `${server}_${tool}`.replace(/[^A-Za-z0-9_-]/g, '_').slice(0, 64)

interface Props {
  /** The entries of `denyTools` of the conversation. */
  denied: readonly string[]
  onChange: (denied: string[]) => void
}

/** Switches tool servers, and single tools of them, on and off for one conversation. Renders nothing if there is no server. */
export function ToolSwitches ({ denied, onChange }: Props) {
  const [isOpen, setIsOpen] = useState(false)
  const servers = useServers({ shown: isOpen }).data?.servers ?? []
  if (servers.length === 0 && denied.length === 0) return null
  const turn = (entry: string, isOn: boolean) => onChange([...denied.filter((each) => each !== entry), ...isOn ? [] : [entry]])
  const known = new Set(servers.flatMap(({ name, tools }) => [serverEntry(name), ...tools.map((tool) => toolEntry(name, tool))]))
  const others = denied.filter((entry) => !known.has(entry))
  return (
    <>
      <Button kind='quiet' onClick={() => setIsOpen(true)}>
        <Wrench /> {denied.length === 0 ? say('chat.tools') : say('chat.toolsOff', { count: denied.length })}
      </Button>
      <Dialog title={say('chat.toolsTitle')} isOpen={isOpen} onClose={() => setIsOpen(false)}>
        <p className='quiet'>{say('chat.toolsHelp')}</p>
        <ul className='list'>
          {servers.map((server) => <ServerSwitches key={server.name} server={server} denied={denied} turn={turn} />)}
        </ul>
        {others.length > 0 && (
          <section className='section'>
            <h3>{say('chat.toolsAlsoOff')}</h3>
            <ul className='list'>
              {others.map((entry) => (
                <li key={entry} className='tool-switch'>
                  <code>{entry}</code> <Button kind='quiet' onClick={() => turn(entry, true)}>{say('chat.toolsTurnOn')}</Button>
                </li>
              ))}
            </ul>
          </section>
        )}
      </Dialog>
    </>
  )
}

interface ServerProps {
  server: ToolServer
  denied: readonly string[]
  turn: (entry: string, isOn: boolean) => void
}

function ServerSwitches ({ server: { name, status, tools }, denied, turn }: ServerProps) {
  const isOn = !denied.includes(serverEntry(name))
  return (
    <li>
      <label className='tool-switch'>
        <input type='checkbox' role='switch' checked={isOn} onChange={() => turn(serverEntry(name), !isOn)} />{' '}
        <strong>{name}</strong> {status !== 'connected' && <Status value={status} />}
      </label>
      {tools.length > 0 && (
        <details>
          <summary>{say('chat.toolsOf', { count: tools.length })}</summary>
          {tools.map((tool) => {
            const entry = toolEntry(name, tool)
            const isToolOn = isOn && !denied.includes(entry)
            return (
              <label key={tool} className='tool-switch'>
                <input type='checkbox' role='switch' checked={isToolOn} disabled={!isOn} onChange={() => turn(entry, !isToolOn)} />{' '}
                <code><VisibleText text={tool} limit={200} /></code>
              </label>
            )
          })}
        </details>
      )}
    </li>
  )
}
