import { CircleHelp } from 'lucide-react'
import { say } from '../lib/say.ts'

/** The mark beside the state of a run whose report its calls do not bear out. */
export function NotVerified ({ verified }: { verified?: boolean }) {
  if (verified !== false) return null
  return (
    <span className='status status-warn' title={say('run.notVerifiedWhy')}>
      <CircleHelp /> {say('run.notVerified')}
    </span>
  )
}
