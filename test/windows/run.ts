import { rmSync } from 'node:fs'
import { setPriority } from 'node:os'
import { TEST } from './wine.ts'

// npm run test:windows: packs the service, starts it from an app's Node for Windows, and uses it there, under Wine. It needs Linux on x64
// and root. Once, it makes a folder with Debian 13 and Wine in /var/cache/local-agent-wine (or LOCAL_AGENT_WINE; 2.2 GB) by debootstrap;
// each run takes some minutes. `-- 'words|other words'` runs the first step and those whose sentences hold the words. Each file of steps/
// is about one part: files (names that Windows reads otherwise, approvals, undo), commands, work (tasks, rehearsals, copies), doors (tool
// servers, clients, editors), and lives of the service (backups, kills, its parent, the supervisor, the sidecar archive).

setPriority(10)
const began = performance.now()
const words = process.argv[2]
const { ALLOWED, close, configure, model, tell } = await import('./app.ts')
const steps = [
  ...(await import('./steps/files.ts')).files,
  ...(await import('./steps/commands.ts')).commands,
  ...(await import('./steps/work.ts')).work,
  ...(await import('./steps/doors.ts')).doors,
  ...(await import('./steps/lives.ts')).lives
].filter(([sentence], at) => at === 0 || words === undefined || new RegExp(words).test(sentence))

let failed = 0
for (const [sentence, step] of steps) {
  const from = performance.now()
  try {
    await step()
    if (words !== undefined) await configure(ALLOWED).catch(() => {})
    console.log(`ok - ${sentence} (${((performance.now() - from) / 1000).toFixed(1)} s)`)
  } catch (error) {
    failed++
    console.log(`not ok - ${sentence}\n${(error as Error).stack}`)
  }
}
if (failed > 0) console.log((await tell('log').catch(() => undefined))?.log?.split('\n').slice(-20).join('\n'))
await close()
await model.close()
rmSync(TEST, { recursive: true, force: true })
const seconds = Math.round((performance.now() - began) / 1000)
console.log(`On Windows, under Wine: ${steps.length - failed} of ${steps.length} work, in ${seconds} s.`)
process.exit(failed > 0 ? 1 : 0)
