import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { about, getConfig, health, reloadConfig } from '../../../client/generated/index.ts'
import { keys } from '../../lib/queries.ts'
import { say } from '../../lib/say.ts'
import { asked, body } from '../../lib/service.ts'
import { sayDuration } from '../../lib/time.ts'
import { Button } from '../../parts/button.tsx'
import { CommandList, commandsQuery } from '../../parts/commands/running-commands.tsx'
import { Failed } from '../../parts/failed.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { Status } from '../../parts/status.tsx'

const REFRESH_MS = 10_000
const PARTS = ['store', 'config', 'scheduler', 'model'] as const

/** The state of the service and of its parts, and its configuration. */
export function HealthSection () {
  const state = useQuery({ queryKey: keys.health(), queryFn: () => health(asked()).then(body), refetchInterval: REFRESH_MS })
  const config = useQuery({ queryKey: keys.config(), queryFn: () => getConfig(asked()).then(body) })
  const description = useQuery({ queryKey: [...keys.health(), 'about'], queryFn: () => about(asked()).then(body) })
  const commands = useQuery(commandsQuery)
  const queries = useQueryClient()
  const reload = useMutation({ mutationFn: () => reloadConfig(asked()), onSuccess: () => queries.invalidateQueries() })
  return (
    <>
      <section className='section'>
        <Loaded query={state}>
          {({ status, version, uptimeMs, checks }) => (
            <>
              <p>
                <Status value={status} />{' '}
                <span className='quiet'>· {say('settings.version', { version, time: sayDuration(uptimeMs) })}</span>
              </p>
              <dl className='pairs'>
                {PARTS.map((part) => (
                  <div key={part}>
                    <dt>{say(`settings.part_${part}`)}</dt>
                    <dd>{checks[part] === 'ok' ? <Status value='ok' /> : <span lang='en'>{checks[part]}</span>}</dd>
                  </div>
                ))}
              </dl>
            </>
          )}
        </Loaded>
        {description.data && <p className='quiet'>{say('settings.workspace', { path: description.data.workspace })}</p>}
        <p><a href='/docs'>{say('settings.docs')}</a></p>
      </section>
      <section className='section'>
        <h2>{say('commands.title')}</h2>
        <Loaded query={commands}>
          {({ commands }) => commands.length > 0
            ? <CommandList commands={commands} />
            : <p className='quiet'>{say('commands.none')}</p>}
        </Loaded>
      </section>
      <section className='section'>
        <h2>{say('settings.part_config')}</h2>
        <details>
          <summary>{say('settings.configFile')}</summary>
          <Loaded query={config}>{(content) => <pre className='preview-text' tabIndex={0}>{JSON.stringify(content, null, 2)}</pre>}</Loaded>
        </details>
        {reload.error !== null && <Failed error={reload.error} />}
        <div className='actions'>
          <Button isBusy={reload.isPending} onClick={() => reload.mutate()}>{say('settings.reload')}</Button>
          <span role='status'>{reload.isSuccess && say('settings.reloaded')}</span>
        </div>
      </section>
    </>
  )
}
