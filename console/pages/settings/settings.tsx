import { lazy, Suspense, useEffect, useRef } from 'react'
import { Link } from 'wouter'
import { say } from '../../lib/say.ts'
import { Loading } from '../../parts/loading.tsx'
import { Page } from '../../parts/page.tsx'
import { Agents } from './agents/agents.tsx'
import { General } from './general/general.tsx'
import { Grants } from './grants.tsx'
import { HealthSection } from './health.tsx'
import { Models } from './models/models.tsx'
import { Servers } from './servers/servers.tsx'
import { Skills } from './skills/skills.tsx'
import './settings.css'

// Loaded on demand, because the plots need a library of their own.
const Usage = lazy(() => import('./usage/usage.tsx'))

const SECTIONS = {
  models: Models,
  servers: Servers,
  agents: Agents,
  skills: Skills,
  grants: Grants,
  usage: Usage,
  general: General,
  health: HealthSection
}
type Section = keyof typeof SECTIONS
const NAMES = Object.keys(SECTIONS) as Section[]

/** The settings: one section at a time, by its address. */
export default function Settings ({ section }: { section?: string }) {
  const current = NAMES.find((name) => name === section) ?? 'models'
  const Shown = SECTIONS[current]
  const tabs = useRef<HTMLElement>(null)
  // On a narrow page, the section names scroll sideways.
  useEffect(() => {
    tabs.current?.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest', inline: 'nearest' })
  }, [current])
  return (
    <Page title={say('settings.title')}>
      <div className='settings'>
        <nav ref={tabs} className='tabs' aria-label={say('settings.sections')}>
          {NAMES.map((name) => (
            <Link key={name} className='tab' href={`/settings/${name}`} aria-current={name === current ? 'page' : undefined}>
              {say(`settings.${name}`)}
            </Link>
          ))}
        </nav>
        <div className='settings-section'><Suspense fallback={<Loading />}><Shown /></Suspense></div>
      </div>
    </Page>
  )
}
