import { queryOptions, useMutation } from '@tanstack/react-query'
import { Square, Terminal } from 'lucide-react'
import { useState } from 'react'
import { listCommands, stopCommand, type Command } from '../../../client/generated/index.ts'
import { keys, queries } from '../../lib/queries.ts'
import { say } from '../../lib/say.ts'
import { asked, body } from '../../lib/service.ts'
import { useAnnounce } from '../announcer.tsx'
import { Button } from '../button.tsx'
import { Dialog } from '../dialog.tsx'
import { Failed } from '../failed.tsx'
import { Time } from '../time.tsx'
import { VisibleText } from '../visible-text.tsx'

/** The polling interval while commands run, in milliseconds: there is no event for a command that ends by itself. */
const REFRESH_MS = 5_000

/** The query of the background commands that runs have started. */
export const commandsQuery = queryOptions({
  queryKey: keys.commands(),
  queryFn: () => listCommands(asked()).then(body),
  refetchInterval: ({ state: { data } }) => data !== undefined && data.commands.length > 0 && REFRESH_MS
})

/** Background commands, each with a button that stops it. */
export function CommandList ({ commands }: { commands: Command[] }) {
  return (
    <ul className='list commands'>
      {commands.map((command) => <CommandRow key={command.commandId} {...command} />)}
    </ul>
  )
}

function CommandRow ({ commandId, command, startedAt, ports }: Command) {
  const announce = useAnnounce()
  const stopping = useMutation({
    mutationFn: () => stopCommand({ ...asked(), path: { id: commandId } }),
    onSuccess () {
      announce(say('commands.stopped'))
      void queries.invalidateQueries({ queryKey: keys.commands() })
    }
  })
  return (
    <li className='command'>
      <code className='command-line'><VisibleText text={command} limit={400} /></code>
      <span className='quiet'>
        <Time at={startedAt} />
        {ports.map((port) => (
          <span key={port}>
            {' · '}
            <a href={`http://127.0.0.1:${port}/`} target='_blank' rel='noreferrer noopener'>
              {say('commands.port', { port: String(port) })}
            </a>
          </span>
        ))}
      </span>
      <Button isBusy={stopping.isPending} onClick={() => stopping.mutate()}><Square /> {say('commands.stop')}</Button>
      {stopping.isError && <Failed error={stopping.error} />}
    </li>
  )
}

/** A button with the number of background commands, which opens their list. Renders nothing without commands. */
export function RunningCommands ({ commands }: { commands: Command[] }) {
  const [isOpen, setIsOpen] = useState(false)
  if (commands.length === 0) return null
  return (
    <>
      <Button
        kind='quiet'
        onClick={() => {
          setIsOpen(true)
          void queries.invalidateQueries({ queryKey: keys.commands() })
        }}
      >
        <Terminal /> {say('commands.count', { count: commands.length })}
      </Button>
      <Dialog title={say('commands.title')} isOpen={isOpen} onClose={() => setIsOpen(false)}>
        <p className='quiet'>{say('commands.text')}</p>
        <CommandList commands={commands} />
      </Dialog>
    </>
  )
}
